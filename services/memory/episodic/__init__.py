"""Keeps agents, contacts, conversations and every message (SPEC §5)."""
