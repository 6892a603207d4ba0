"""`palimpsest bench`: the benchmarks of a source checkout."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from palimpsest.cli.failure import Failure


@click.command("bench")
@click.argument("scenario", metavar="ID")
@click.option("--json", "out", type=click.Path(path_type=Path, dir_okay=False), help="Write the result here.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The questions and conversations of `bench retrieval`.",
)
def command(scenario: str, out: Path | None, data: Path | None) -> None:
    """Run the benchmark ID, or all; the exit code is 1 when a budget is missed."""
    try:
        runner = import_module("bench.runner")
    except ImportError as error:
        raise Failure(f"benchmarks run from a source checkout (no module {error.name})") from error
    raise click.exceptions.Exit(runner.main(scenario, out=out, data=data))
