"""`palimpsest status`: what runs, and how its jobs stand."""

from __future__ import annotations

import dataclasses

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json
from palimpsest.client import AsyncClient
from palimpsest.models import Status


@click.command("status")
@json_option
@connected
def command(connection: Connection, as_json: bool) -> None:
    """Tell what runs, and how its jobs stand."""

    async def work(client: AsyncClient) -> tuple[str, Status]:
        return client.target, await client.status()

    target, status = connection.run(work)
    if as_json:
        print_json({"target": target, **dataclasses.asdict(status)})
        return
    jobs = status.jobs
    say(f"palimpsest {status.version}, {status.profile}, at {target}")
    say(f"model {status.model_name} {status.model_revision}, {status.model_dimension} dimensions")
    say(
        f"jobs  {jobs.queued} queued, {jobs.running} running, {jobs.failed} waiting to be tried again, "
        f"{jobs.dead} dead, {jobs.succeeded} done, {jobs.cancelled} cancelled"
    )
