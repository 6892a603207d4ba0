"""`palimpsest recall`: finds memories, or messages."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

import click

from palimpsest.cli.moments import MOMENT
from palimpsest.cli.output import say
from palimpsest.cli.session import (
    Connection,
    connected,
    day,
    find_contact,
    json_option,
    one_line,
    print_json,
)
from palimpsest.cli.texts import MESSAGE_WIDTH, warn, words
from palimpsest.client import AsyncClient
from palimpsest.models import Explanation, RecalledMemories, RecalledMessages, SearchMode, SearchScope


@click.command("recall")
@click.argument("query")
@click.option("--messages", "in_messages", is_flag=True, help="Search messages instead of memories.")
@click.option("--contact", help="The person: an id, or an identity such as telegram:123.")
@click.option("--conversation", "conversation_id", default="", help="With --messages: the conversation.")
@click.option("--scope", type=click.Choice(get_args(SearchScope)), help="With --messages: where to search.")
@click.option("--mode", type=click.Choice(get_args(SearchMode)), help="With --messages: how to search.")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Most hits.")
@click.option("--as-of", type=MOMENT, help="Memories that were valid at a date or time.")
@click.option("--explain", is_flag=True, help="Say why each hit stands where it does.")
@json_option
@connected
def command(
    connection: Connection,
    query: str,
    in_messages: bool,
    contact: str | None,
    conversation_id: str,
    scope: SearchScope | None,
    mode: SearchMode | None,
    limit: int,
    as_of: datetime | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Find what matches QUERY, best first."""
    if (conversation_id or scope or mode) and not in_messages:
        raise click.UsageError("--conversation, --scope and --mode go with --messages")
    if as_of and in_messages:
        raise click.UsageError("--as-of is of memories, not of --messages")

    async def work(client: AsyncClient) -> RecalledMemories | RecalledMessages:
        contact_id = await find_contact(client, contact)
        if not in_messages:
            return await client.recall(query, contact_id=contact_id, limit=limit, as_of_time=as_of)
        return await client.recall_conversation(
            query,
            conversation_id=conversation_id,
            contact_id=contact_id,
            scope=scope,
            mode=mode,
            limit=limit,
        )

    found = connection.run(work)
    if as_json:
        print_json(found)
        return
    _print_hits(found, explain)
    warn(found.failures)


def _print_hits(found: RecalledMemories | RecalledMessages, explain: bool) -> None:
    if not found.hits:
        say("nothing found", err=True)
    if isinstance(found, RecalledMemories):
        for place, hit in enumerate(found.hits, 1):
            say(f"{place:2}. {hit.memory.key}  {hit.memory.value}{'  (fills up)' if hit.filled else ''}")
            if explain:
                say(f"    {reason(hit.explanation)}")
        return
    for place, message_hit in enumerate(found.hits, 1):
        message = message_hit.message
        place_of = f"{message.conversation_id} {message.sequence}"
        head = f"{message.author or message.role}, {day(message.time)} ({place_of})"
        say(f"{place:2}. {head}\n    {one_line(words(message), MESSAGE_WIDTH)}")
        if explain:
            say(f"    {reason(message_hit.explanation)}")


def reason(explanation: Explanation) -> str:
    """Why a hit stands where it does, on one line."""
    parts = [f"score {explanation.score:.4f}"]
    parts += [
        f"{rank.channel} rank {rank.rank} ({rank.score:.3f}) {rank.contribution:+.4f}"
        for rank in explanation.channels
    ]
    parts += [f"{signal.name} {signal.contribution:+.4f}" for signal in explanation.signals]
    return " · ".join(parts)
