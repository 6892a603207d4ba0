"""`palimpsest graph`: the themes under which conversations are filed."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, get_args

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json, print_rows
from palimpsest.client import AsyncClient
from palimpsest.models import (
    BranchDetails,
    BranchLink,
    BranchState,
    MergeProposal,
    MergeProposalState,
    ThemeBranch,
)


@click.group("graph")
def command() -> None:
    """List, merge, rename and split the themes of conversations.

    A branch is named by its id, or by any name it ever had.
    """


@command.command("list")
@click.option(
    "--state", "states", type=click.Choice(get_args(BranchState)), multiple=True, help="Only in this state."
)
@json_option
@connected
def list_branches(connection: Connection, states: tuple[BranchState, ...], as_json: bool) -> None:
    """List branches by name."""

    async def work(client: AsyncClient) -> list[ThemeBranch]:
        return [one async for one in client.theme_branches(states=states)]

    print_rows(connection.run(work), _listed, as_json=as_json)


@command.command("show")
@click.argument("branch")
@json_option
@connected
def show(connection: Connection, branch: str, as_json: bool) -> None:
    """Show a branch, its conversations, and what was done to it."""

    async def work(client: AsyncClient) -> tuple[BranchDetails, list[BranchLink]]:
        details = await client.theme_branch(branch)
        return details, [one async for one in client.branch_conversations(details.branch.id)]

    details, links = connection.run(work)
    if as_json:
        print_json({"branch": details.branch, "events": details.events, "conversations": links})
        return
    _echo(details.branch)
    for link in links:
        hand = "  by hand" if link.by_hand else ""
        say(f"  {link.conversation_id}  {link.relevance:.2f}{hand}")
    for event in details.events:
        other = f" {event.other_id}" if event.other_id else ""
        say(f"  {event.time:%Y-%m-%d %H:%M}  {event.kind}{other}  {event.slug}")


@command.command("link")
@click.argument("conversation_id")
@click.argument("name")
@click.option(
    "--relevance",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    help="How much of it is about this.",
)
@json_option
@connected
def link(connection: Connection, conversation_id: str, name: str, relevance: float, as_json: bool) -> None:
    """File a conversation under the branch of a name."""
    _change(
        connection,
        lambda client: client.link_conversation(conversation_id, name, relevance=relevance),
        as_json=as_json,
    )


@command.command("merge")
@click.argument("branch")
@click.argument("into")
@json_option
@connected
def merge(connection: Connection, branch: str, into: str, as_json: bool) -> None:
    """Merge a branch into another."""
    _change(connection, lambda client: client.merge_branches(branch, into), as_json=as_json)


@command.command("unmerge")
@click.argument("branch")
@json_option
@connected
def unmerge(connection: Connection, branch: str, as_json: bool) -> None:
    """Take the merge of a branch into another back."""
    _change(connection, lambda client: client.undo_branch_merge(branch), as_json=as_json)


@command.command("rename")
@click.argument("branch")
@click.argument("name")
@json_option
@connected
def rename(connection: Connection, branch: str, name: str, as_json: bool) -> None:
    """Give a branch another name; the old one still leads to it."""
    _change(connection, lambda client: client.rename_branch(branch, name), as_json=as_json)


@command.command("split")
@click.argument("branch")
@click.argument("name")
@click.argument("conversation_ids", nargs=-1, required=True)
@json_option
@connected
def split(
    connection: Connection, branch: str, name: str, conversation_ids: tuple[str, ...], as_json: bool
) -> None:
    """Take conversations out of a branch into a new one."""
    done = connection.run(lambda client: client.split_branch(branch, name, conversation_ids))
    if as_json:
        print_json(done)
        return
    _echo(done.branch)
    _echo(done.remaining)


@command.command("proposals")
@click.option("--state", type=click.Choice(get_args(MergeProposalState)), default="open", show_default=True)
@json_option
@connected
def proposals(connection: Connection, state: MergeProposalState, as_json: bool) -> None:
    """List branches that may be the same, and why."""

    async def work(client: AsyncClient) -> list[MergeProposal]:
        return [one async for one in client.merge_proposals(state=state)]

    print_rows(connection.run(work), _line, as_json=as_json)


@command.command("resolve")
@click.argument("proposal_id")
@click.option("--accept/--reject", required=True, default=None, help="Merge the two, or keep them apart.")
@json_option
@connected
def resolve(connection: Connection, proposal_id: str, accept: bool, as_json: bool) -> None:
    """Decide a proposal."""
    done = connection.run(lambda client: client.resolve_merge_proposal(proposal_id, accept=accept))
    if as_json:
        print_json(done)
    else:
        say(_line(done))


def _change(
    connection: Connection,
    work: Callable[[AsyncClient], Coroutine[Any, Any, ThemeBranch]],
    *,
    as_json: bool,
) -> None:
    branch = connection.run(work)
    if as_json:
        print_json(branch)
    else:
        _echo(branch)


def _echo(branch: ThemeBranch) -> None:
    aliases = f", also {', '.join(branch.aliases)}" if branch.aliases else ""
    count = branch.conversation_count
    plural = "" if count == 1 else "s"
    say(f"{branch.id}  {branch.name}: {branch.state}, {count} conversation{plural}{aliases}")


def _listed(one: ThemeBranch) -> str:
    return f"{one.id}  {one.state:11}  {one.conversation_count:5}  {one.name}"


def _line(one: MergeProposal) -> str:
    cosine = "no vectors" if one.cosine is None else f"cosine {one.cosine:.2f}"
    return (
        f"{one.id}  {one.state:8}  {one.score:.2f}  {one.branch.name!r} into {one.into.name!r}"
        f"  ({cosine}, spelling {one.spelling:.2f}, words {one.words:.2f}, {one.shared_count} shared)"
    )
