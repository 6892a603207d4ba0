"""What recall and memories are, free of stores and wires."""
