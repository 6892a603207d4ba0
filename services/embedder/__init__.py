"""Turns text into vectors (SPEC §7)."""
