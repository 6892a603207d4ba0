"""`palimpsest reflections`: what recurred, and what was learned."""

from __future__ import annotations

import click

from palimpsest.cli.session import Connection, connected, find_contact, json_option, print_rows
from palimpsest.client import AsyncClient
from palimpsest.models import Insight


@click.command("reflections")
@click.option("--learnings", is_flag=True, help="What was found out or decided, instead.")
@click.option("--contact", help="Only of this person: a contact's id, or an identity such as telegram:123.")
@json_option
@connected
def command(connection: Connection, learnings: bool, contact: str | None, as_json: bool) -> None:
    """List reflections, newest first."""

    async def work(client: AsyncClient) -> list[Insight]:
        contact_id = await find_contact(client, contact)
        rows = client.learnings if learnings else client.reflections
        return [row async for row in rows(contact_id=contact_id)]

    found = connection.run(work)
    print_rows(found, lambda row: f"{row.id}  {row.day}  {row.topic}\n    {row.text}", as_json=as_json)
