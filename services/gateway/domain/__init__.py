"""Fences, the prompt and keys: pure rules."""
