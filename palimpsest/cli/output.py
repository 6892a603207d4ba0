"""What the commands print."""

from __future__ import annotations

import re

import click

CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
"""Characters that a terminal obeys rather than shows: ESC and its like, and those that turn a line around."""


def harmless(text: str) -> str:
    """The text with control characters as they are written in JSON, so that JSON stays what it was.

    What is stored, and what a model says, may hold any: a terminal would move, hide or forge what it shows.
    """
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    """Prints a text, with a line break unless `nl` is false, on standard error with `err`."""
    click.echo(harmless(text), nl=nl, err=err)
