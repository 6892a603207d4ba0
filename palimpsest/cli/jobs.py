"""`palimpsest jobs`: list, watch, retry and cancel jobs."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, get_args

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import (
    Connection,
    connected,
    day,
    first,
    json_option,
    one_line,
    print_json,
    print_rows,
)
from palimpsest.client import AsyncClient
from palimpsest.models import Job, JobCounts, JobState

if TYPE_CHECKING:
    from rich.console import RenderableType

SHOWN_JOBS = 15
LIST_LIMIT = 100
ERROR_WIDTH = 200

_states = click.option(
    "--state", "states", type=click.Choice(get_args(JobState)), multiple=True, help="Only in this state."
)
_types = click.option("--type", "types", multiple=True, help="Only of this type, e.g. index_message.")


@click.group("jobs")
def command() -> None:
    """List, watch, retry and cancel jobs."""


@command.command("list")
@_states
@_types
@click.option("--limit", type=click.IntRange(1), default=LIST_LIMIT, show_default=True, help="Most jobs.")
@json_option
@connected
def list_jobs(
    connection: Connection, states: tuple[JobState, ...], types: tuple[str, ...], limit: int, as_json: bool
) -> None:
    """List jobs of all agents, newest first."""

    async def work(client: AsyncClient) -> list[Job]:
        return await first(client.jobs(states=states, types=types), limit)

    print_rows(connection.run(work), _line, as_json=as_json)


@command.command("watch")
@_states
@_types
@click.option("--until-idle", is_flag=True, help="End when nothing is left to be done.")
@json_option
@connected
def watch_jobs(
    connection: Connection,
    states: tuple[JobState, ...],
    types: tuple[str, ...],
    until_idle: bool,
    as_json: bool,
) -> None:
    """Watch jobs of all agents as they change, until interrupted.

    On a terminal it is a table that is drawn again; elsewhere a line for each change. --json prints a line
    for each update.
    """

    async def work(client: AsyncClient) -> None:
        updates = client.watch_jobs(states=states, types=types, until_idle=until_idle)
        if as_json:
            async for update in updates:
                print_json(update, line=True)
            return
        if not sys.stdout.isatty():
            async for update in updates:
                for job in update.jobs:
                    say(_line(job))
                say(_summed(update.counts))
            return
        from rich.live import Live

        recent: OrderedDict[str, Job] = OrderedDict()
        with Live(refresh_per_second=10) as live:
            async for update in updates:
                for job in update.jobs:
                    recent[job.id] = job
                    recent.move_to_end(job.id)
                while len(recent) > SHOWN_JOBS:
                    recent.popitem(last=False)
                live.update(table(list(recent.values()), update.counts))

    connection.run(work)


@command.command("retry")
@click.argument("job_id")
@json_option
@connected
def retry_job(connection: Connection, job_id: str, as_json: bool) -> None:
    """Queue a dead, failed or cancelled job again."""
    _print_changed(connection.run(lambda client: client.retry_job(job_id)), as_json)


@command.command("cancel")
@click.argument("job_id")
@json_option
@connected
def cancel_job(connection: Connection, job_id: str, as_json: bool) -> None:
    """Cancel a job that is not done."""
    _print_changed(connection.run(lambda client: client.cancel_job(job_id)), as_json)


def _print_changed(job: Job, as_json: bool) -> None:
    if as_json:
        print_json(job)
    else:
        say(f"{job.id} is {job.state}")


def _line(job: Job) -> str:
    engine = f"by {job.engine}  " if job.engine else ""
    what = f"{job.type}  {job.agent_id}/{job.subject}  {engine}{one_line(job.error, ERROR_WIDTH)}".rstrip()
    return f"{job.id}  {job.state:9}  {_tries(job):5}  {day(job.update_time)}  {what}"


def _tries(job: Job) -> str:
    return f"{job.attempt}/{job.max_attempts}"


def _summed(counts: JobCounts) -> str:
    return f"{counts.left} left, {counts.dead} dead, {counts.succeeded} done"


def table(jobs: list[Job], counts: JobCounts) -> RenderableType:
    """Jobs as the terminal shows them while they change."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=_summed(counts), title_justify="left")
    columns: Any = ("job", "state", "type", "subject", "try", "engine", "error")
    for name in columns:
        table.add_column(name, no_wrap=True)
    for job in jobs:
        # As Text: what a name holds is shown, never read as markup.
        cells = (
            job.id,
            job.state,
            job.type,
            f"{job.agent_id}/{job.subject}",
            _tries(job),
            job.engine,
            one_line(job.error, ERROR_WIDTH),
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table
