"""The scenarios, by id."""
