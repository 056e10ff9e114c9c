"""Slices in groups: statistics of stages, programs, engines, calls and steps, and what bounds the device."""
