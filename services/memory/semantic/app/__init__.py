"""Use cases of the semantic service, over its ports."""
