"""The wire of the embedder: it converts, and nothing else."""
