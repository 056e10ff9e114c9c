"""torch's key_averages, rebuilt from a trace: events, their nesting, costs and links."""
