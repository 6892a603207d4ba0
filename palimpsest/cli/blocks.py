"""`palimpsest blocks`: context blocks and their entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, one_line, print_json, print_rows
from palimpsest.client import AsyncClient
from palimpsest.models import ContextBlock, ContextEntry, ContextKind

EXCERPT_WIDTH = 200
CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def _owner(function: CommandT) -> CommandT:
    help_text = "A conversation's own blocks.  [default: the agent's, for all conversations]"
    return click.option("--conversation", "conversation_id", default="", help=help_text)(function)


@click.group("blocks")
def command() -> None:
    """List and change context blocks, their entries, and the system prompt made of them."""


@command.command("list")
@_owner
@json_option
@connected
def list_blocks(connection: Connection, conversation_id: str, as_json: bool) -> None:
    """List the blocks by label."""
    found = connection.run(lambda client: client.context_blocks(conversation_id=conversation_id))
    if as_json:
        print_json(found)
        return
    for block in found:
        _print_block(block)


@command.command("show")
@click.argument("label")
@_owner
@json_option
@connected
def show_block(connection: Connection, label: str, conversation_id: str, as_json: bool) -> None:
    """Show a block with its content."""
    block = connection.run(lambda client: client.context_block(label, conversation_id=conversation_id))
    if as_json:
        print_json(block)
        return
    _print_block(block)
    if block.content:
        say(block.content)


@command.command("put")
@click.argument("label")
@click.argument("content", required=False)
@click.option("--kind", type=click.Choice(get_args(ContextKind)), required=True, help="How it is shown.")
@click.option(
    "--max-tokens", type=click.IntRange(16, 16_000), default=1000, show_default=True, help="Its budget."
)
@click.option("--description", default="", help="What it is for, to the model.")
@_owner
@json_option
@connected
def put_block(
    connection: Connection,
    label: str,
    content: str | None,
    kind: ContextKind,
    max_tokens: int,
    description: str,
    conversation_id: str,
    as_json: bool,
) -> None:
    """Create the block LABEL, or change it; without CONTENT what is there stays."""

    async def work(client: AsyncClient) -> ContextBlock:
        return await client.put_context_block(
            label,
            kind=kind,
            max_tokens=max_tokens,
            description=description,
            content=content,
            conversation_id=conversation_id,
        )

    block = connection.run(work)
    if as_json:
        print_json(block)
    else:
        _print_block(block)


@command.command("delete")
@click.argument("label")
@_owner
@connected
def delete_block(connection: Connection, label: str, conversation_id: str) -> None:
    """Delete a block with its entries."""
    there = connection.run(lambda client: client.delete_context_block(label, conversation_id=conversation_id))
    say(f"deleted: {label}" if there else f"no such block: {label}")


@command.command("entries")
@click.argument("label")
@_owner
@json_option
@connected
def list_entries(connection: Connection, label: str, conversation_id: str, as_json: bool) -> None:
    """List the entries of a block by key."""

    async def work(client: AsyncClient) -> list[ContextEntry]:
        listing = client.context_entries(label, conversation_id=conversation_id)
        return [entry async for entry in listing]

    print_rows(connection.run(work), _entry, as_json=as_json)


@command.command("add")
@click.argument("label")
@click.argument("key")
@click.argument("content")
@click.option("--title", default="", help="What it is about, in a line.")
@_owner
@connected
def add_entry(
    connection: Connection, label: str, key: str, content: str, title: str, conversation_id: str
) -> None:
    """Store an entry of a searchable or loadable block."""

    async def work(client: AsyncClient) -> ContextEntry:
        return await client.put_context_entry(
            label, key, content, title=title, conversation_id=conversation_id
        )

    entry = connection.run(work)
    say(f"stored: {entry.label}/{entry.key} ({entry.token_count} tokens)")


@command.command("remove")
@click.argument("label")
@click.argument("key")
@_owner
@connected
def remove_entry(connection: Connection, label: str, key: str, conversation_id: str) -> None:
    """Delete an entry."""
    there = connection.run(
        lambda client: client.delete_context_entry(label, key, conversation_id=conversation_id)
    )
    say(f"deleted: {label}/{key}" if there else f"no such entry: {label}/{key}")


@command.command("search")
@click.argument("query")
@click.option("--label", default="", help="Only this block.")
@_owner
@json_option
@connected
def search(connection: Connection, query: str, label: str, conversation_id: str, as_json: bool) -> None:
    """Search the searchable blocks by words."""
    found = connection.run(
        lambda client: client.search_context(query, label=label, conversation_id=conversation_id)
    )
    if as_json:
        print_json(found)
        return
    for place, hit in enumerate(found, 1):
        say(f"{place:2}. {hit.label}/{hit.key}  {one_line(hit.excerpt, EXCERPT_WIDTH)}")


@command.command("prompt")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.option("--refresh", is_flag=True, help="Render it anew.")
@json_option
@connected
def system_prompt(connection: Connection, conversation_id: str, refresh: bool, as_json: bool) -> None:
    """Print the frozen system prompt of CONVERSATION."""

    async def work(client: AsyncClient) -> Any:
        if refresh:
            await client.refresh_system_prompt(conversation_id)
        return await client.system_prompt(conversation_id)

    prompt = connection.run(work)
    if as_json:
        print_json(prompt)
    else:
        say(prompt.text)


def _entry(entry: ContextEntry) -> str:
    return f"{entry.key}  {entry.title}".rstrip() + f"  ({entry.token_count} tokens)"


def _print_block(block: ContextBlock) -> None:
    used = f"{block.token_count} of {block.max_tokens} tokens"
    entries = f", {block.entry_count} entries" if block.kind in ("searchable", "loadable") else ""
    about = f": {block.description}" if block.description else ""
    say(f"{block.label}  {block.kind}, {used}{entries}{about}")
