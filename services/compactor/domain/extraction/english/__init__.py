"""English: `reader.facts_of`."""
