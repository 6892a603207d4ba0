"""Memories, the index of messages, and recall (SPEC §6)."""
