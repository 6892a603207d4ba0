"""Use cases of the embedder, over its ports."""
