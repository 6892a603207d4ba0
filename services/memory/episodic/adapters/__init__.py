"""Stores: SQLite, and memory for tests."""
