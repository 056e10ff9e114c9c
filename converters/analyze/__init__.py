"""A timeline becomes small result tables. Pure numpy, no input or output."""
