"""Ledgers, and the handlers of job types."""
