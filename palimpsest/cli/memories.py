"""`palimpsest memories`: lists memories."""

from __future__ import annotations

from typing import get_args

import click

from palimpsest.cli.session import Connection, connected, day, find_contact, json_option, print_json
from palimpsest.client import AsyncClient
from palimpsest.models import Memory, MemoryKind


@click.command("memories")
@click.option("--contact", help="Also this person's: an id, or an identity such as telegram:123.")
@click.option(
    "--kind", "kinds", type=click.Choice(get_args(MemoryKind)), multiple=True, help="Only of this kind."
)
@click.option("--prefix", default="", help="Only keys that begin so.")
@click.option("--all", "include_superseded", is_flag=True, help="Superseded and expired ones too.")
@json_option
@connected
def command(
    connection: Connection,
    contact: str | None,
    kinds: tuple[MemoryKind, ...],
    prefix: str,
    include_superseded: bool,
    as_json: bool,
) -> None:
    """List memories, oldest first."""

    async def work(client: AsyncClient) -> list[Memory]:
        listing = client.memories(
            contact_id=await find_contact(client, contact),
            kinds=kinds,
            key_prefix=prefix,
            include_superseded=include_superseded,
        )
        return [memory async for memory in listing]

    found = connection.run(work)
    if as_json:
        print_json(found)
        return
    for memory in found:
        click.echo(f"{memory.key}  {memory.value}")
        click.echo(f"    {_details(memory)}")


def _details(memory: Memory) -> str:
    parts = [memory.id, memory.fact_type, day(memory.create_time), f"confidence {memory.confidence:.2f}"]
    if memory.contact_id:
        parts.append(f"of {memory.contact_id}")
    if memory.pinned:
        parts.append("pinned")
    if memory.superseded_by:
        parts.append(f"superseded by {memory.superseded_by}")
    return ", ".join(part for part in parts if part)
