"""The row key of a message: its conversation's number and its sequence number in one integer."""

from __future__ import annotations

SEQUENCE_BITS = 32
SEQUENCE_MASK = (1 << SEQUENCE_BITS) - 1


def place(conversation: int, sequence: int) -> int:
    """`conversation` below 2^31, `sequence` below 2^32; neighbours in a conversation are neighbours here."""
    return conversation << SEQUENCE_BITS | sequence
