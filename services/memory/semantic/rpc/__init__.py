"""The wire of the semantic service: it converts, and nothing else."""
