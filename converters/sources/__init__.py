"""Foreign bytes become columns: one module a format; nothing here knows merge, analyses or sinks."""
