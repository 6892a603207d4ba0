"""`palimpsest ingest`: stores a transcript file."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import click

from palimpsest.cli.agents import ensure_agent, ensure_conversation
from palimpsest.cli.failure import Failure
from palimpsest.cli.ingest_file import BadLine, ChunkedFile, Source, Survey, safe_id, survey
from palimpsest.cli.output import say
from palimpsest.cli.session import (
    Connection,
    connected,
    find_contact,
    json_option,
    print_json,
)
from palimpsest.client import AsyncClient
from palimpsest.client.transcripts import TEXT_BYTES
from palimpsest.errors import NotIndexedError, PalimpsestError
from palimpsest.models import FreshnessToken
from palimpsest.transcripts import TranscriptFormat

PARALLEL_CALLS = 16


@click.command("ingest")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--conversation", help="Its id, or the first part of the ids of several.  [default: the file's name]"
)
@click.option("--contact", help="Whom it is with: a contact's id, or an identity such as telegram:123.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice([each.value for each in TranscriptFormat]),
    default=TranscriptFormat.AUTO.value,
    show_default=True,
    help="How to read the file.",
)
@click.option(
    "--branch",
    is_flag=True,
    help="Let it part from what is stored: from there on it begins a branch, which becomes the active one.",
)
@click.option("--skip-bad", is_flag=True, help="Leave out bad lines, instead of storing nothing.")
@click.option(
    "--max-text-bytes",
    "text_bytes",
    type=click.IntRange(1, 1024 * 1024),
    default=TEXT_BYTES,
    show_default=True,
    help="The suite's limit of a text, if it is set to another.",
)
@click.option("--wait", is_flag=True, help="Return only when all of it can be recalled.")
@json_option
@connected
def command(
    connection: Connection,
    file: Path,
    conversation: str | None,
    contact: str | None,
    file_format: str,
    branch: bool,
    skip_bad: bool,
    text_bytes: int,
    wait: bool,
    as_json: bool,
) -> None:
    """Store the transcript FILE, after checking all of it.

    A bad line is reported and nothing is stored, unless --skip-bad is given. Run again, after an
    interruption or with lines added at the end, it stores what is missing. Makes the agent and the
    conversation if they are missing.
    """
    source = Source(
        path=file,
        file_format=TranscriptFormat(file_format),
        text_bytes=text_bytes,
        base=conversation or safe_id(file.stem),
        branch=branch,
    )
    try:
        found = survey(source, _report if skip_bad else _refuse)
    except OSError as error:
        raise Failure(f"cannot read {file}: {error.strerror}") from error
    if not found.message_count:
        raise Failure(f"{file}: no messages to store")
    on_bad: Callable[[BadLine], None] = _ignore if skip_bad else _refuse

    async def work(client: AsyncClient) -> tuple[int, int]:
        tokens, created = await _store(client, source, found, contact, on_bad)
        if wait:
            await _wait(client, list(tokens.values()))
        return found.message_count, created

    count, created = connection.run(work)
    names = list(found.counts)
    if as_json:
        print_json(
            {
                "agent_id": connection.agent,
                "conversation_ids": names,
                "message_count": count,
                "created_count": created,
                "bad_count": found.bad_count,
            }
        )
        return
    where = f"conversation {names[0]}" if len(names) == 1 else f"{len(names)} conversations"
    skipped = f", {found.bad_count} bad ones left out" if found.bad_count else ""
    say(f"{count} messages in {where} of agent {connection.agent}, {created} of them new{skipped}")


def _refuse(bad: BadLine) -> None:
    raise Failure(str(bad))


def _report(bad: BadLine) -> None:
    say(f"left out: {bad}", err=True)


def _ignore(_bad: BadLine) -> None:
    """It was reported in the first pass."""


async def _store(
    client: AsyncClient,
    source: Source,
    found: Survey,
    contact: str | None,
    on_bad: Callable[[BadLine], None],
) -> tuple[dict[str, FreshnessToken], int]:
    """Stores the file; returns the newest token of each conversation, and how many messages are new."""
    await ensure_agent(client)
    contact_id = await find_contact(client, contact)
    names = iter(found.counts)
    while batch := list(islice(names, PARALLEL_CALLS)):
        await asyncio.gather(*(ensure_conversation(client, name, contact_id) for name in batch))
    chunked = ChunkedFile(source, on_bad)
    tokens: dict[str, FreshnessToken] = {}
    created = 0
    with _progress(found.message_count) as advance:
        try:
            async for ack in client.ingest_stream(chunked.chunks()):
                chunked.acknowledged()
                created += ack.created_count
                if ack.token is not None:
                    tokens[ack.conversation_id] = ack.token
                advance(len(ack.messages))
        except PalimpsestError as error:
            bad = chunked.locate(error)
            if bad is None:
                raise
            raise Failure(str(bad)) from error
    return tokens, created


async def _wait(client: AsyncClient, tokens: list[FreshnessToken]) -> None:
    """Waits as long as there is hope; a job that was given up ends it."""
    while True:
        try:
            return await client.wait_indexed(*tokens)
        except NotIndexedError as error:
            dead = sum(each.state == "dead" for each in error.unindexed)
            if dead:
                raise Failure(
                    "all is stored, but jobs were given up; see `palimpsest jobs list --state dead`"
                ) from error


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("storing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("storing", total=total)
        yield lambda count: bar.advance(task, count)
