"""Busy and idle time: occupancy, gaps, and what every nanosecond of a gap waited for."""
