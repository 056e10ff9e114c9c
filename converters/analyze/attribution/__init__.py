"""Device time by op, module and Python frame, and the stacks behind it."""
