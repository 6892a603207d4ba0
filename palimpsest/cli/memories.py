"""`palimpsest memories`: list memories; their history, and what contradicts what."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

import click
from click.core import ParameterSource

from palimpsest.cli.moments import MOMENT
from palimpsest.cli.output import say
from palimpsest.cli.session import (
    Connection,
    connected,
    day,
    find_contact,
    json_option,
    print_json,
    print_rows,
)
from palimpsest.client import AsyncClient
from palimpsest.models import Contradiction, Memory, MemoryHistory, MemoryKind, Restored, Supersession


@click.group("memories", invoke_without_command=True)
@click.option("--contact", help="Also this person's: an id, or an identity such as telegram:123.")
@click.option(
    "--kind", "kinds", type=click.Choice(get_args(MemoryKind)), multiple=True, help="Only of this kind."
)
@click.option("--prefix", default="", help="Only keys that begin so.")
@click.option("--all", "include_superseded", is_flag=True, help="Superseded and expired ones too.")
@click.option("--as-of", type=MOMENT, help="What was valid at a date or time, by all that is known today.")
@json_option
@connected
def command(
    connection: Connection,
    contact: str | None,
    kinds: tuple[MemoryKind, ...],
    prefix: str,
    include_superseded: bool,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """List memories, oldest first. The commands tell how one came about, and settle contradictions."""
    if _has_command():
        return
    if include_superseded and as_of:
        raise click.UsageError("--all and --as-of exclude each other")

    async def work(client: AsyncClient) -> list[Memory]:
        listing = client.memories(
            contact_id=await find_contact(client, contact),
            kinds=kinds,
            key_prefix=prefix,
            include_superseded=include_superseded,
            as_of_time=as_of,
        )
        return [memory async for memory in listing]

    print_rows(connection.run(work), _line, as_json=as_json)


def _has_command() -> bool:
    """Whether a command follows; what was given before it would be lost, and is refused."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        return False
    for parameter in context.command.params:
        if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"options go after {context.invoked_subcommand}")
    return True


@command.command("history")
@click.argument("memory_id")
@json_option
@connected
def history(connection: Connection, memory_id: str, as_json: bool) -> None:
    """Show all versions of a memory, any of which is named, and what replaced what."""
    found: MemoryHistory = connection.run(lambda client: client.memory_history(memory_id))
    if as_json:
        print_json(found)
        return
    replaced: dict[str, list[Supersession]] = {}
    for supersession in found.supersessions:
        replaced.setdefault(supersession.old_memory_id, []).append(supersession)
    for memory in found:
        say(_line(memory))
        say(f"    valid {_span(memory)}")
        for supersession in replaced.get(memory.id, ()):
            say(f"    {_told(supersession)}")


@command.command("undo")
@click.argument("memory_id")
@json_option
@connected
def undo(connection: Connection, memory_id: str, as_json: bool) -> None:
    """Take back the newest supersession of a memory."""
    restored: Restored = connection.run(lambda client: client.undo_supersession(memory_id))
    if as_json:
        print_json(restored)
        return
    memory = restored.memory
    state = f"still superseded by {memory.superseded_by}" if memory.superseded_by else "brought back"
    say(f"{state}: {memory.key} (version {memory.version}, {memory.id})")


@command.command("contradictions")
@click.option("--contact", help="Also this person's: an id, or an identity such as telegram:123.")
@json_option
@connected
def contradictions(connection: Connection, contact: str | None, as_json: bool) -> None:
    """List memories that cannot both be true, two by two."""

    async def work(client: AsyncClient) -> list[Contradiction]:
        contact_id = await find_contact(client, contact)
        return [found async for found in client.contradictions(contact_id=contact_id)]

    found = connection.run(work)
    if as_json:
        print_json(found)
        return
    for contradiction in found:
        sure = f"{contradiction.judge}, {contradiction.probability:.2f}"
        say(f"{contradiction.id}  found {day(contradiction.create_time)} ({sure})")
        for memory in contradiction.memories:
            say(f"    {memory.id}  {memory.key}  {memory.value}")


@command.command("resolve")
@click.argument("contradiction_id")
@click.option("--keep", "kept_memory_id", help="The memory that is right; it replaces the other.")
@click.option("--both", is_flag=True, help="Let both stand.")
@json_option
@connected
def resolve(
    connection: Connection, contradiction_id: str, kept_memory_id: str | None, both: bool, as_json: bool
) -> None:
    """Settle a contradiction."""
    if both == bool(kept_memory_id):
        raise click.UsageError("give either --keep or --both")
    memories: list[Memory] = connection.run(
        lambda client: client.resolve_contradiction(contradiction_id, kept_memory_id=kept_memory_id or "")
    )
    print_rows(memories, _line, as_json=as_json)


def _line(memory: Memory) -> str:
    return f"{memory.key}  {memory.value}\n    {_details(memory)}"


def _details(memory: Memory) -> str:
    parts = [memory.id, memory.fact_type, day(memory.create_time), f"confidence {memory.confidence:.2f}"]
    if memory.contact_id:
        parts.append(f"of {memory.contact_id}")
    if memory.pinned:
        parts.append("pinned")
    if memory.superseded_by:
        parts.append(f"superseded by {memory.superseded_by}")
    return ", ".join(part for part in parts if part)


def _span(memory: Memory) -> str:
    if memory.valid_to_time and memory.valid_to_time == memory.valid_from_time:
        return "at no time"
    end = day(memory.valid_to_time or memory.expire_time)
    return f"from {day(memory.valid_from_time)}" + (f" to {end}" if end else " on")


def _told(supersession: Supersession) -> str:
    why = {"key": "a new value of its key", "resolved": "by choice"}.get(
        supersession.cause, f"judged by {supersession.judge}, {supersession.probability:.2f}"
    )
    told = f"replaced by {supersession.new_memory_id} on {day(supersession.create_time)} ({why})"
    return f"{told}, undone on {day(supersession.undo_time)}" if supersession.undo_time else told
