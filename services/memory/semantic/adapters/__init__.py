"""Stores, engines and the other services."""
