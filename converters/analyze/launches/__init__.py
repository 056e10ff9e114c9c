"""Launches on their way: latency, queue, and the time between them."""
