"""What runs in mem0's own environment, to compare with."""
