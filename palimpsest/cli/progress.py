"""`palimpsest progress`: how far a conversation is derived."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, one_line, print_json
from palimpsest.client import AsyncClient
from palimpsest.models import WorkProgress

ERROR_WIDTH = 120
UNCOUNTED = ("refresh",)
"""Kinds of work that count no messages."""


@click.command("progress")
@click.argument("conversation_id", metavar="CONVERSATION")
@json_option
@connected
def command(connection: Connection, conversation_id: str, as_json: bool) -> None:
    """Tell how far CONVERSATION is derived, by kind of work: what is done, what waits, what is dead."""

    async def work(client: AsyncClient) -> tuple[int, list[WorkProgress], dict[str, str]]:
        stored = (await client.get_conversation(conversation_id)).stored_count
        found = await client.derived_progress(conversation_id)
        dead = [] if as_json else [one.dead_job_id for one in found if one.dead_job_id]
        return stored, found, {job_id: (await client.job(job_id)).error for job_id in dead}

    stored, found, errors = connection.run(work)
    if as_json:
        print_json({"conversation_id": conversation_id, "stored_count": stored, "work": found})
        return
    say(f"{stored} messages stored")
    for one in found:
        parts = [] if one.kind in UNCOUNTED else [f"up to {one.up_to_sequence}"]
        if one.waiting_count:
            parts.append(f"{one.waiting_count} waiting")
        if one.dead_count:
            error = one_line(errors.get(one.dead_job_id, ""), ERROR_WIDTH)
            parts.append(f"{one.dead_count} dead, the newest {one.dead_job_id}: {error}")
        say(f"{one.kind:10} {', '.join(parts) or 'done'}")
