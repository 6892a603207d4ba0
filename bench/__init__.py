"""Benchmarks: one scenario a file, each a ratio or a value held against its budget (SPEC §14)."""
