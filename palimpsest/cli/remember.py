"""`palimpsest remember`: writes a memory."""

from __future__ import annotations

from typing import get_args

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, find_contact, json_option, print_json
from palimpsest.client import AsyncClient
from palimpsest.models import FactType, Remembered


@click.command("remember")
@click.argument("key")
@click.argument("value")
@click.option("--contact", help="Whose it is: an id, or an identity such as telegram:123.")
@click.option(
    "--type", "fact_type", type=click.Choice(get_args(FactType)), help="What kind of statement it is."
)
@click.option("--pin", "pinned", is_flag=True, help="Show it in every prompt.")
@click.option("--wait", is_flag=True, help="Return only when recall can find it.")
@json_option
@connected
def command(
    connection: Connection,
    key: str,
    value: str,
    contact: str | None,
    fact_type: FactType | None,
    pinned: bool,
    wait: bool,
    as_json: bool,
) -> None:
    """Write VALUE under KEY; a new value supersedes the last one. Makes the agent if it is missing."""

    async def work(client: AsyncClient) -> Remembered:
        from palimpsest.cli.agents import ensure_agent

        await ensure_agent(client)
        written = await client.remember(
            key, value, contact_id=await find_contact(client, contact), fact_type=fact_type, pinned=pinned
        )
        if wait:
            await client.wait_indexed(written.token)
        return written

    done = connection.run(work)
    if as_json:
        print_json(done)
    else:
        what = "remembered" if done.created else "already known"
        say(f"{what}: {done.memory.key} (version {done.memory.version}, {done.memory.id})")
