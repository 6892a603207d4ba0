"""palimpsest keys: API keys of the tenant."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import click

from palimpsest.cli.failure import Failure
from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, day, first, json_option, print_json, print_rows
from palimpsest.client import AsyncClient
from palimpsest.endpoint import API_KEY_FILE, default_data_dir
from palimpsest.models import ApiKey, CreatedKey, KeyChange, KeyRole

UNITS = {"m": "minutes", "h": "hours", "d": "days"}
SPAN = re.compile(r"([1-9][0-9]{0,4})([mhd])")
CHANGES = 50


class Span(click.ParamType[timedelta]):
    """A length of time: a number and m, h or d."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Fails for what is none."""
        if isinstance(value, timedelta):
            return value
        match = SPAN.fullmatch(str(value))
        if match is None:
            self.fail(f"{value} is not a length of time: write 30m, 12h or 7d", param, ctx)
        return timedelta(**{UNITS[match[2]]: int(match[1])})


@click.group("keys")
def command() -> None:
    """List, create, rotate and revoke API keys; needs an admin's key."""


@command.command("list")
@json_option
@connected
def list_keys(connection: Connection, as_json: bool) -> None:
    """List keys without their secrets, oldest first."""

    async def work(client: AsyncClient) -> list[ApiKey]:
        listed = client.keys()
        return [key async for key in listed]

    print_rows(connection.run(work), _line, as_json=as_json)


@command.command("create")
@click.option("--role", type=click.Choice(get_args(KeyRole)), required=True, help="What it may do.")
@click.option("--name", default="", help="A name for people to read.")
@click.option("--only", "agents", multiple=True, metavar="AGENT", help="Limits it to an agent; repeatable.")
@click.option(
    "--expires-in", "lifetime", type=Span(), help="How long it works, e.g. 90d.  [default: for ever]"
)
@json_option
@connected
def create(
    connection: Connection,
    role: KeyRole,
    name: str,
    agents: tuple[str, ...],
    lifetime: timedelta | None,
    as_json: bool,
) -> None:
    """Make a key, and print its secret, which cannot be shown again."""
    made: CreatedKey = connection.run(
        lambda client: client.create_key(role, display_name=name, agent_ids=agents, lifetime=lifetime)
    )
    _print_secret(made, "created", as_json)


@command.command("rotate")
@click.argument("key_id")
@click.option(
    "--overlap", type=Span(), help="How long the old secret works, at most 30d.  [default: not at all]"
)
@click.option("--expires-in", "lifetime", type=Span(), help="How long the key works.  [default: as before]")
@json_option
@connected
def rotate(
    connection: Connection, key_id: str, overlap: timedelta | None, lifetime: timedelta | None, as_json: bool
) -> None:
    """Give a key a new secret, and print it; it cannot be shown again.

    If the key is the one in the suite's data folder, the file there is written anew.
    """
    made: CreatedKey = connection.run(
        lambda client: client.rotate_key(key_id, overlap=overlap, lifetime=lifetime)
    )
    _print_secret(made, "rotated", as_json)
    _renew_file((connection.data or default_data_dir()) / API_KEY_FILE, made)


@command.command("revoke")
@click.argument("key_id")
@json_option
@connected
def revoke(connection: Connection, key_id: str, as_json: bool) -> None:
    """Revoke a key, at once and for good."""
    revoked: ApiKey = connection.run(lambda client: client.revoke_key(key_id))
    if as_json:
        print_json(revoked)
        return
    say(f"revoked: {revoked.id}")


@command.command("changes")
@click.argument("key_id", default="")
@click.option("--limit", type=click.IntRange(1), default=CHANGES, show_default=True, help="Most changes.")
@json_option
@connected
def changes(connection: Connection, key_id: str, limit: int, as_json: bool) -> None:
    """List who did what to KEY_ID, or to all keys, newest first."""

    async def work(client: AsyncClient) -> list[KeyChange]:
        return await first(client.key_changes(key_id=key_id), limit)

    print_rows(connection.run(work), _told, as_json=as_json)


def _line(key: ApiKey) -> str:
    reach = ",".join(key.agent_ids) or "all agents"
    return f"{key.id}  {key.role:8}  {_state(key):24}  {reach}  {key.display_name}".rstrip()


def _told(change: KeyChange) -> str:
    return f"{day(change.time)}  {change.key_id}  {change.kind:8}  {change.subject}"


def _state(key: ApiKey) -> str:
    if key.revoke_time:
        return f"revoked {day(key.revoke_time)}"
    return f"until {day(key.expire_time)}" if key.expire_time else "for ever"


def _print_secret(made: CreatedKey, what: str, as_json: bool) -> None:
    """The secret alone on standard output, so that it can be piped; or all as JSON."""
    if as_json:
        print_json(made)
        return
    say(f"{what}: {made.key.id} ({made.key.role}, {_state(made.key)})", err=True)
    say(made.secret)


def _renew_file(path: Path, made: CreatedKey) -> None:
    """Puts the new secret in place of the same key's old one, readable by its owner only."""
    try:
        written = path.read_text("utf-8", "replace")
        if f"_{made.key.id}_" not in written:
            return
        draft = path.with_name(f"{path.name}.new")
        draft.unlink(missing_ok=True)
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(made.secret + "\n")
        draft.replace(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Failure(f"the key was rotated, but {path} cannot be written: {error.strerror}") from error
    say(f"written to {path}", err=True)
