"""JSON over HTTP: converts and nothing else (SPEC G-10)."""
