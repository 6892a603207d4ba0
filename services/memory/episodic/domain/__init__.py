"""Messages, people and windows: pure rules."""
