"""What a job is and how it may change; pure."""
