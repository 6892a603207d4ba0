"""The Compactor: keeps the ledger of derived work and does that work (SPEC §8)."""
