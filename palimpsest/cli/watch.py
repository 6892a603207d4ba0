"""`palimpsest watch`: what happens in a conversation as it happens."""

from __future__ import annotations

from contextlib import aclosing

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, one_line, print_json
from palimpsest.cli.texts import MESSAGE_WIDTH, print_message
from palimpsest.client import AsyncClient
from palimpsest.models import ConversationEvent


@click.command("watch")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.option(
    "--after",
    type=click.IntRange(0),
    help="Begin after the message with this sequence number; 0 for the first.  [default: from now on]",
)
@click.option("--count", "limit", type=click.IntRange(1), help="End after so many events.")
@json_option
@connected
def command(
    connection: Connection, conversation_id: str, after: int | None, limit: int | None, as_json: bool
) -> None:
    """Watch messages, overlays and progress of CONVERSATION, until interrupted.

    --json prints a line for each event.
    """

    async def work(client: AsyncClient) -> None:
        left = limit
        async with aclosing(client.watch_conversation(conversation_id, after_sequence=after)) as events:
            async for event in events:
                if as_json:
                    print_json(event, line=True)
                else:
                    _print(event)
                if left is not None:
                    left -= 1
                    if not left:
                        return

    connection.run(work)


def _print(event: ConversationEvent) -> None:
    if event.message is not None:
        print_message(event.message)
    elif event.overlay_change is not None:
        for overlay in event.overlay_change.overlays:
            where = f"overlay {overlay.id} over {overlay.from_depth} to {overlay.to_depth}"
            if overlay.superseded_by:
                say(f"{where} is now part of {', '.join(overlay.superseded_by)}")
            else:
                say(f"{where}: {one_line(overlay.summary, MESSAGE_WIDTH)}")
    elif event.progress is not None:
        progress = event.progress
        say(
            f"{progress.stored_count} stored, {progress.indexed_count} indexed;"
            f" {progress.covered_count} of {progress.depth} on the active path under overlays"
        )
