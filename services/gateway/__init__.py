"""What applications call: keys, recording, recall, the prompt (SPEC §10)."""
