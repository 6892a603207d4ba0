"""The wire of the episodic service: it converts, and nothing else."""
