"""Use cases of the episodic service, over its ports."""
