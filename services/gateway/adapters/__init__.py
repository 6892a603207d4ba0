"""The key store, and the other services."""
