"""`palimpsest reindex`: build the indexes again."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, agent_is_named, connected, json_option, print_json
from palimpsest.client import AsyncClient
from palimpsest.models import IndexStatus, ReindexRun


@click.command("reindex")
@click.option("--watch", is_flag=True, help="Wait until it is done.")
@click.option("--status", "only_status", is_flag=True, help="Start nothing: tell how the newest run stands.")
@click.option("--models", "of_models", is_flag=True, help="Start nothing: tell whose vectors are indexed.")
@json_option
@connected
def command(connection: Connection, watch: bool, only_status: bool, of_models: bool, as_json: bool) -> None:
    """Build words and vectors again from what is stored, of all agents unless --agent names one.

    Recall goes on meanwhile. One run at a time: while one is under way, it is that one.
    """
    if of_models:
        _print_models(connection.run(lambda client: client.index_status()), as_json)
        return

    agent_id = connection.agent if agent_is_named() else ""

    async def work(client: AsyncClient) -> None:
        run = await (client.reindex_run() if only_status else client.reindex(agent_id=agent_id))
        if not watch:
            _print(run, as_json)
            return
        async for state in client.watch_reindex(run.id):
            _print(state, as_json, line=True)

    connection.run(work)


def _print(run: ReindexRun, as_json: bool, *, line: bool = False) -> None:
    if as_json:
        print_json(run, line=line)
        return
    whose = run.agent_id or "all agents"
    say(f"{run.id}  {run.state:7}  {run.done_count} of {run.total_count}  {whose}")


def _print_models(status: IndexStatus, as_json: bool) -> None:
    if as_json:
        print_json(status)
        return
    active, following = status.active, status.next
    say(f"active  {active.revision}, {active.dimension} dimensions, {active.vector_count} vectors")
    if following is not None:
        say(
            f"next    {following.revision}, {following.dimension} dimensions,"
            f" {following.vector_count} vectors so far"
        )
