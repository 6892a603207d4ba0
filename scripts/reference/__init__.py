"""Writes palimpsest/openapi.json and docs/api.md from the protos and their comments."""
