"""The wire of the gateway: it converts, and nothing else."""
