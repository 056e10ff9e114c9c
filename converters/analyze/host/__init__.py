"""What the host did: stacks of its threads, classes of its calls, and the split of its time."""
