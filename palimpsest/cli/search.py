"""`palimpsest search`: finds what was derived from conversations."""

from __future__ import annotations

from typing import get_args

import click

from palimpsest.cli.output import say
from palimpsest.cli.recall import reason
from palimpsest.cli.session import Connection, connected, find_contact, json_option, one_line, print_json
from palimpsest.cli.texts import MESSAGE_WIDTH, warn
from palimpsest.client import AsyncClient
from palimpsest.models import DocumentScope, DocumentType, FoundDocuments


@click.command("search")
@click.argument("query")
@click.option(
    "--type",
    "types",
    type=click.Choice(get_args(DocumentType)),
    multiple=True,
    help="Only of this type; may be given several times.",
)
@click.option("--contact", help="Only what this person may see: an id, or an identity such as telegram:123.")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Most hits.")
@click.option("--explain", is_flag=True, help="Say why each hit stands where it does.")
@json_option
@connected
def command(
    connection: Connection,
    query: str,
    types: tuple[DocumentType, ...],
    contact: str | None,
    limit: int,
    explain: bool,
    as_json: bool,
) -> None:
    """Find summaries, pages, branches and themes that match QUERY, best first.

    Without --contact all of the agent is searched.
    """

    async def work(client: AsyncClient) -> FoundDocuments:
        contact_id = await find_contact(client, contact)
        scope: DocumentScope = "contact" if contact_id else "all"
        return await client.search_documents(
            query, types=types, contact_id=contact_id, scope=scope, limit=limit
        )

    found = connection.run(work)
    if as_json:
        print_json(found)
        return
    if not found.hits:
        say("nothing found", err=True)
    for place, hit in enumerate(found.hits, 1):
        say(f"{place:2}. {hit.type} {hit.document_id}  {hit.title}")
        say(f"    {one_line(hit.snippet, MESSAGE_WIDTH)}")
        if explain:
            say(f"    {reason(hit.explanation)}")
    warn(found.failures)
