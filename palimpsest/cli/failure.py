"""How a command fails."""

from __future__ import annotations

from typing import IO, Any

import click

from palimpsest.cli.output import harmless


class Failure(click.ClickException):
    """The command failed: one line on standard error, exit code 1."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Writes the line."""
        click.echo(harmless(f"error: {self.message}"), file=file, err=True)
