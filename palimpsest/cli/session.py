"""What the commands share: options, the connection, failures in one line, and printing."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from palimpsest.cli.failure import Failure
from palimpsest.cli.output import say
from palimpsest.client import DEFAULT_AGENT, AsyncClient
from palimpsest.endpoint import resolve
from palimpsest.errors import (
    CredentialError,
    NotFoundError,
    PalimpsestError,
    RateLimitedError,
    UnreachableError,
)

ResultT = TypeVar("ResultT")
CommandT = TypeVar("CommandT", bound=Callable[..., Any])
RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Where to connect, and for which agent."""

    target: str | None
    data: Path | None
    agent: str

    def client(self) -> AsyncClient:
        """A client for it."""
        endpoint = resolve(self.target, data_dir=self.data)
        return AsyncClient(endpoint.target, api_key=endpoint.api_key, agent=self.agent)

    def run(self, work: Callable[[AsyncClient], Coroutine[Any, Any, ResultT]]) -> ResultT:
        """The result of `work` with a client; what a call raises becomes a Failure."""
        return asyncio.run(self._run(work))

    async def _run(self, work: Callable[[AsyncClient], Coroutine[Any, Any, ResultT]]) -> ResultT:
        async with self.client() as client:
            try:
                return await work(client)
            except (PalimpsestError, ValueError) as error:
                raise Failure(explain(error, client.target)) from error


def explain(error: PalimpsestError | ValueError, target: str) -> str:
    """One line that says what is wrong, and what to do about it where that is known."""
    if isinstance(error, UnreachableError):
        return f"no suite is running at {target} — start one with `palimpsest up`"
    if isinstance(error, CredentialError):
        return f"{target} does not accept the API key — set PALIMPSEST_API_KEY, or --data to its folder"
    if isinstance(error, NotFoundError) and error.metadata.get("id"):
        return f"no such {error.metadata.get('resource', 'thing')}: {error.metadata['id']}"
    if isinstance(error, RateLimitedError) and error.retry_after is not None:
        return f"{error} — again in {timedelta(seconds=math.ceil(error.retry_after))}"
    if isinstance(error, PalimpsestError) and error.fields:
        return "; ".join(f"{problem.field}: {problem.description}" for problem in error.fields)
    return str(error)


def connected(function: CommandT) -> CommandT:
    """Adds the options of a connection; the command gets them as `connection`."""
    options = (
        click.option(
            "--target", metavar="HOST:PORT", help="The suite to call.  [default: the one that runs]"
        ),
        click.option(
            "--data",
            type=click.Path(path_type=Path, file_okay=False),
            help="The data folder of a suite on this machine, to find its address and key.",
        ),
        click.option(
            "--agent",
            default=DEFAULT_AGENT,
            envvar="PALIMPSEST_AGENT",
            show_default=True,
            help="Whose memory it is.",
        ),
    )

    def call(*args: Any, target: str | None, data: Path | None, agent: str, **kwargs: Any) -> Any:
        return function(*args, connection=Connection(target=target, data=data, agent=agent), **kwargs)

    call.__doc__, call.__name__ = function.__doc__, function.__name__
    call.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    wrapped: Any = call
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]


def agent_is_named() -> bool:
    """Whether the command was told for which agent, by its option or the environment."""
    return click.get_current_context().get_parameter_source("agent") is not ParameterSource.DEFAULT


def json_option(function: CommandT) -> CommandT:
    """Adds --json, which the command gets as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


async def find_contact(client: AsyncClient, given: str | None) -> str:
    """The id of the contact named by an id, or by an identity such as telegram:123; empty for none."""
    if not given:
        return ""
    return (await client.resolve_contact(given)).id if ":" in given else given


async def first(rows: AsyncIterator[RowT], limit: int) -> list[RowT]:
    """The first rows, 1 or more; pages after the last of them are not asked for."""
    found: list[RowT] = []
    async for row in rows:
        found.append(row)
        if len(found) == limit:
            break
    return found


def print_rows(rows: Sequence[RowT], line: Callable[[RowT], str], *, as_json: bool) -> None:
    """Prints rows as JSON, or a line for each."""
    if as_json:
        print_json(rows)
        return
    for row in rows:
        say(line(row))


def print_json(value: Any, *, line: bool = False) -> None:
    """Prints values of the client as JSON, with times in ISO 8601; on one line where many follow."""
    say(json.dumps(_plain(value), ensure_ascii=False, indent=None if line else 2))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def one_line(text: str, width: int) -> str:
    """The text without line breaks, cut to `width` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def day(time: datetime | None) -> str:
    """A date and time for people to read."""
    return f"{time:%Y-%m-%d %H:%M}" if time else ""
