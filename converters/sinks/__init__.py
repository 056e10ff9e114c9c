"""A timeline or a result table becomes bytes or text: one module a format."""
