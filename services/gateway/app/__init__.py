"""Use cases of the gateway, over its ports."""
