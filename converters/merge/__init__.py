"""Columns become a timeline: align, correlate, attribute. Pure numpy, no input or output."""
