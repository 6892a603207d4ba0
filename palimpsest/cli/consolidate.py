"""`palimpsest consolidate`: merge memories that say the same, let unused ones decay; list and undo runs."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, day, json_option, print_json, print_rows
from palimpsest.client import AsyncClient
from palimpsest.models import ConsolidationRun


@click.group("consolidate", invoke_without_command=True)
@click.option("--dry-run", is_flag=True, help="Change nothing: tell what would be done.")
@json_option
@connected
def command(connection: Connection, dry_run: bool, as_json: bool) -> None:
    """Consolidate the agent's memories now, as happens daily; list and undo runs."""
    if click.get_current_context().invoked_subcommand is None:
        _print(connection.run(lambda client: client.consolidate(dry_run=dry_run)), as_json)


@command.command("runs")
@json_option
@connected
def list_runs(connection: Connection, as_json: bool) -> None:
    """List runs, newest first."""

    async def work(client: AsyncClient) -> list[ConsolidationRun]:
        return [run async for run in client.consolidation_runs()]

    print_rows(connection.run(work), _head, as_json=as_json)


@command.command("show")
@click.argument("run_id")
@json_option
@connected
def show_run(connection: Connection, run_id: str, as_json: bool) -> None:
    """Tell what a run did."""
    _print(connection.run(lambda client: client.consolidation_run(run_id)), as_json)


@command.command("undo")
@click.argument("run_id")
@json_option
@connected
def undo_run(connection: Connection, run_id: str, as_json: bool) -> None:
    """Take a run back, as far as nothing else came since."""
    _print(connection.run(lambda client: client.undo_consolidation(run_id)), as_json)


def _print(run: ConsolidationRun, as_json: bool) -> None:
    if as_json:
        print_json(run)
        return
    say(_head(run))
    for merge in run.merges:
        say(f"  {merge.outcome:8} {merge.key}: {' '.join(merge.member_ids)} -> {merge.memory_id}")


def _head(run: ConsolidationRun) -> str:
    kind = (
        "dry run" if run.dry_run else "undone" if run.undo_time else "done" if run.finish_time else "running"
    )
    merged = sum(merge.outcome in ("merged", "planned") for merge in run.merges)
    counts = f"{run.compared_count} compared, {merged} merges, {run.decayed_count} decayed"
    return f"{run.id}  {day(run.create_time)}  {kind:7}  {counts}"
