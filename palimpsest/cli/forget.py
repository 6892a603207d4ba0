"""`palimpsest forget`: deletes a memory."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, find_contact, json_option, print_json
from palimpsest.client import AsyncClient


@click.command("forget")
@click.argument("key", required=False)
@click.option("--id", "memory_id", help="The memory's id, instead of its key.")
@click.option("--contact", help="Whose it is: an id, or an identity such as telegram:123.")
@json_option
@connected
def command(
    connection: Connection, key: str | None, memory_id: str | None, contact: str | None, as_json: bool
) -> None:
    """Delete the memory of KEY with all its versions.

    With --contact it is the contact's memory if there is one, else the agent-wide one.
    """
    if (key is None) == (memory_id is None):
        raise click.UsageError("give either KEY or --id")

    async def work(client: AsyncClient) -> int:
        found = memory_id
        if found is None:
            found = (await client.memory(key or "", contact_id=await find_contact(client, contact))).id
        return await client.forget(found)

    count = connection.run(work)
    if as_json:
        print_json({"deleted_count": count})
    else:
        say(f"forgotten: {key or memory_id} ({count} version{'' if count == 1 else 's'})")
