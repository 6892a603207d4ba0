"""`palimpsest summary`: the rolling summary of a conversation."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TextIO, get_args

import click

from palimpsest.cli.failure import Failure
from palimpsest.cli.output import say
from palimpsest.cli.session import (
    Connection,
    connected,
    day,
    json_option,
    one_line,
    print_json,
    print_rows,
)
from palimpsest.cli.texts import version_line
from palimpsest.client import AsyncClient
from palimpsest.models import Summary, SummarySection, SummaryVersion

SECTIONS: Sequence[SummarySection] = get_args(SummarySection)
HEADINGS = {name.replace("_", " "): name for name in SECTIONS}
"""Sections by their headings in markdown, in lower case."""
PARENT = "work state"
"""The heading over Completed, Active and Blocked."""
DATED = re.compile(r"\d{4}-\d{2}-\d{2} (?=\S)")
QUOTE_WIDTH = 100
Lines = dict[SummarySection, list[str]]


@click.group("summary")
def command() -> None:
    """Show a conversation's summary and its versions; correct it."""


@command.command("show")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.option("--version", type=click.IntRange(1), help="Which.  [default: the newest]")
@click.option("--text", "text_only", is_flag=True, help="Only the markdown, as `correct` takes it.")
@json_option
@connected
def show(
    connection: Connection, conversation_id: str, version: int | None, text_only: bool, as_json: bool
) -> None:
    """Print the summary of CONVERSATION, and what the conversation is about."""
    found = connection.run(lambda client: client.summary(conversation_id, version=version or 0))
    if as_json:
        print_json(found)
    elif text_only:
        say(found.text)
    else:
        _print(found)


@command.command("versions")
@click.argument("conversation_id", metavar="CONVERSATION")
@json_option
@connected
def versions(connection: Connection, conversation_id: str, as_json: bool) -> None:
    """List the versions, the newest first."""

    async def work(client: AsyncClient) -> list[SummaryVersion]:
        return [one async for one in client.summary_versions(conversation_id)]

    print_rows(connection.run(work), version_line, as_json=as_json)


@command.command("correct")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.argument("file", type=click.File(encoding="utf-8"), required=False)
@click.option(
    "--section",
    "changes",
    type=(click.Choice(SECTIONS), str),
    multiple=True,
    metavar="SECTION LINE",
    help="A line that this section is to have; the other sections stay as they are. May be repeated.",
)
@click.option("--clear", "cleared", type=click.Choice(SECTIONS), multiple=True, help="Empty this section.")
@click.option(
    "--version",
    type=click.IntRange(1),
    help="The version that is corrected: the newest, else nothing is changed. Needed with FILE.",
)
@json_option
@connected
def correct(
    connection: Connection,
    conversation_id: str,
    file: TextIO | None,
    changes: Sequence[tuple[SummarySection, str]],
    cleared: Sequence[SummarySection],
    version: int | None,
    as_json: bool,
) -> None:
    """Put a person's lines in the place of the summary's, in a new version.

    FILE (- for standard input) holds all that the summary is to say: markdown as `show --text` prints it, or
    JSON, an object of lists of lines by section. Without it, --section and --clear change single sections.
    """
    if (file is None) == (not changes and not cleared):
        raise click.UsageError("give either FILE, or --section and --clear")
    if file is not None and version is None:
        raise click.UsageError("--version says which version FILE was made of")
    said = None if file is None else _read(file.read())

    async def work(client: AsyncClient) -> Summary:
        if said is not None and version is not None:
            return await client.correct_summary(conversation_id, said, version=version)
        newest = await client.summary(conversation_id)
        lines = _changed(newest, changes, cleared)
        return await client.correct_summary(conversation_id, lines, version=version or newest.version)

    made = connection.run(work)
    if as_json:
        print_json(made)
    else:
        say(f"corrected: version {made.version}")


@command.command("rebuild")
@click.option("--all-agents", is_flag=True, help="Of all agents that the key reaches.")
@json_option
@connected
def rebuild(connection: Connection, all_agents: bool, as_json: bool) -> None:
    """Fill the cache of derived documents, attractors too, from their rows; needs an operator's key."""
    done = connection.run(lambda client: client.rebuild_documents(all_agents=all_agents))
    if as_json:
        print_json(done)
    else:
        say(f"{done.document_count} documents, {done.value_count} values written to the cache")


def _print(found: Summary) -> None:
    say(_heading(found))
    if found.title:
        say(one_line(found.title, QUOTE_WIDTH))
    say(f"\n{found.text}\n")
    concepts = ", ".join(f"{one.name} ({one.count})" for one in found.concepts)
    branches = ", ".join(f"{one.name} {one.relevance:.2f}" for one in found.branches)
    for name, told in (("vibes", ", ".join(found.vibes)), ("concepts", concepts), ("branches", branches)):
        if told:
            say(f"{name}: {told}")
    if found.turning_points:
        say("turning points:")
    for one in found.turning_points:
        quote = one_line(one.text, QUOTE_WIDTH)
        say(f"  {day(one.time)}  {one.kind:8}  {one.score:.2f}  {one.message_id}  {quote}")


def _heading(found: Summary) -> str:
    newest = found.version == found.newest_version
    marks = [f"version {found.version} of {day(found.create_time)}"]
    marks += [] if newest else [f"the newest is {found.newest_version}"]
    marks += ["out of date"] if found.stale and newest else []
    marks += ["corrected"] if found.corrected else []
    marks += [f"{found.message_count} messages up to {found.up_to_sequence}"]
    marks += [f"by {found.engine}", f"{len(found.source_ids)} sources"]
    return ", ".join(marks)


def _changed(
    newest: Summary, changes: Sequence[tuple[SummarySection, str]], cleared: Sequence[SummarySection]
) -> Lines:
    """What the newest version says, with other lines in the sections named."""
    lines: Lines = {name: [one.text for one in said] for name, said in newest.sections.items()}
    for name in {*cleared, *(name for name, _ in changes)}:
        lines[name] = []
    for name, line in changes:
        lines[name].append(line)
    return lines


def _read(text: str) -> Lines:
    """The lines of a file by section. Raises Failure."""
    return _json(text) if text.lstrip().startswith("{") else _markdown(text)


def _json(text: str) -> Lines:
    try:
        said = json.loads(text)
    except ValueError as error:
        raise Failure("the file is not JSON") from error
    said = said.get("sections", said)  # as `show --json` prints the whole
    lines: Lines = {}
    for name, items in said.items() if isinstance(said, dict) else ():
        if name not in SECTIONS or not isinstance(items, list):
            raise Failure(f"no section of a summary, with a list of lines: {name}")
        lines[name] = [_line(item) for item in items]
    return lines


def _line(item: object) -> str:
    text = item.get("text") if isinstance(item, dict) else item
    if not isinstance(text, str):
        raise Failure("a line of a summary is a text, or an object with one")
    return text


def _markdown(text: str) -> Lines:
    lines: Lines = {}
    section: SummarySection | None = None
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("#"):
            heading = line.lstrip("#").strip().casefold()
            section = HEADINGS.get(heading)
            if section is None and heading != PARENT:
                raise Failure(f"no section of a summary: {one_line(line, QUOTE_WIDTH)}")
        elif line.startswith("- ") and section is not None:
            said = DATED.sub("", line[2:].strip(), count=1)  # the server keeps the days of known lines
            lines.setdefault(section, []).append(said.strip("`") if section == "relevant_files" else said)
        elif line:
            raise Failure(f'no heading, and no line that begins with "- ": {one_line(line, QUOTE_WIDTH)}')
    return lines
