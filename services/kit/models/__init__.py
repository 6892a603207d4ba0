"""The client of language models behind OpenAI-compatible endpoints (SPEC J-16, E-11)."""
