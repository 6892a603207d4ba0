"""`palimpsest conversations`: list an agent's conversations."""

from __future__ import annotations

from datetime import datetime

import click

from palimpsest.cli.moments import MOMENT
from palimpsest.cli.session import (
    Connection,
    connected,
    day,
    find_contact,
    first,
    json_option,
    one_line,
    print_rows,
)
from palimpsest.client import AsyncClient
from palimpsest.models import Conversation

LIMIT = 50
PAGE = 100
TITLE_WIDTH = 80


@click.command("conversations")
@click.option("--contact", help="Only with this person: a contact's id, or an identity such as telegram:123.")
@click.option("--since", type=MOMENT, help="Only those that changed since then, e.g. 2031-05-04.")
@click.option("--oldest-first", is_flag=True, help="The oldest first.  [default: the newest]")
@click.option("--limit", type=click.IntRange(1), default=LIMIT, show_default=True, help="Most of them.")
@json_option
@connected
def command(
    connection: Connection,
    contact: str | None,
    since: datetime | None,
    oldest_first: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List conversations with their titles, and how many messages are stored and indexed, newest first."""

    async def work(client: AsyncClient) -> list[Conversation]:
        contact_id = await find_contact(client, contact)
        listed = client.conversations(
            contact_id=contact_id,
            newest_first=not oldest_first,
            changed_since=since,
            page_size=min(limit, PAGE),
        )
        return await first(listed, limit)

    print_rows(connection.run(work), _line, as_json=as_json)


def _line(one: Conversation) -> str:
    counts = f"{one.stored_count} stored, {one.indexed_count} indexed"
    title = one_line(one.title, TITLE_WIDTH)
    return f"{one.id}  {day(one.update_time)}  {counts}  {title}".rstrip()
