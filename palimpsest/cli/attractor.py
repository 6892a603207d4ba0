"""`palimpsest attractor`: the themes that an agent's conversations come back to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

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
from palimpsest.client import AsyncClient
from palimpsest.models import Attractor, AttractorComparison, AttractorVersion, Basin, BasinChange, Basins

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
TITLE_WIDTH = 60
VISITS = 20


@click.group("attractor")
def command() -> None:
    """Show the agent's themes; pin a version, name a theme, compare versions."""


def _version(function: CommandT) -> CommandT:
    for option in (
        click.option("--newest", is_flag=True, help="The newest version, even if another is pinned."),
        click.option("--version", type=click.IntRange(1), help="This version.  [default: pinned, or newest]"),
    ):
        function = option(function)
    return function


@command.command("show")
@_version
@click.option("--trajectory", is_flag=True, help=f"Also the newest {VISITS} visits, and what follows what.")
@json_option
@connected
def show(connection: Connection, version: int | None, newest: bool, trajectory: bool, as_json: bool) -> None:
    """Print the themes, the heaviest first; with --json the whole document."""
    if version and newest:
        raise Failure("--version and --newest exclude each other")

    async def brief(client: AsyncClient) -> Basins:
        return await client.basins(version=version or 0, newest=newest)

    async def whole(client: AsyncClient) -> Attractor:
        return await client.attractor(version=version or 0, newest=newest)

    if as_json:
        print_json(connection.run(whole))
        return
    found = connection.run(brief)
    say(_heading(found))
    for basin in found:
        say(_line(basin))
    if trajectory:
        _print_trajectory(connection.run(whole).body, {basin.id: basin.title for basin in found})


@command.command("versions")
@json_option
@connected
def versions(connection: Connection, as_json: bool) -> None:
    """List the versions, the newest first."""

    async def work(client: AsyncClient) -> list[AttractorVersion]:
        return [version async for version in client.attractor_versions()]

    print_rows(connection.run(work), _version_line, as_json=as_json)


@command.command("freeze")
@click.argument("version", type=click.IntRange(1))
@click.option("--undo", is_flag=True, help="Let the version go.")
@connected
def freeze(connection: Connection, version: int, undo: bool) -> None:
    """Pin VERSION: it is read from now on, whatever newer ones are written."""
    if undo:
        state = connection.run(lambda client: client.unfreeze_attractor(version))
        read = state.pinned_version or f"the newest, {state.newest_version}"
        say(f"let go: version {version}; read: {read}")
        return
    connection.run(lambda client: client.freeze_attractor(version))
    say(f"pinned: version {version}")


@command.command("name")
@click.argument("basin_id")
@click.argument("name")
@connected
def name(connection: Connection, basin_id: str, name: str) -> None:
    """Give the theme BASIN_ID a NAME, which it keeps; "" takes it away."""
    basin = connection.run(lambda client: client.name_basin(basin_id, name))
    say(f"{basin.id}: {basin.title}")


@command.command("compare")
@click.argument("before", type=click.IntRange(1))
@click.argument("after", type=click.IntRange(1), required=False)
@json_option
@connected
def compare(connection: Connection, before: int, after: int | None, as_json: bool) -> None:
    """Tell what became of the themes from version BEFORE to AFTER, by default the newest."""

    async def work(client: AsyncClient) -> tuple[AttractorComparison, dict[str, str]]:
        found = await client.compare_attractor(before, after or 0)
        titles: dict[str, str] = {}
        for version in (found.before_version, found.after_version):
            titles.update({basin.id: basin.title for basin in await client.basins(version=version)})
        return found, titles

    found, titles = connection.run(work)
    if as_json:
        print_json(found)
        return
    say(f"version {found.before_version} to {found.after_version}:")
    for change in found.changes:
        say(f"  {_told(change, titles)}")
    if not found.changes:
        say("  no theme changed")


def _version_line(one: AttractorVersion) -> str:
    marks = "".join(f"  {mark}" for mark, is_so in (("frozen", one.frozen), ("pinned", one.pinned)) if is_so)
    return f"{one.version}  {day(one.create_time)}  {one.size_bytes} bytes{marks}"


def _heading(found: Basins) -> str:
    state = found.state
    marks = [f"version {found.version} of {day(found.create_time)}"]
    marks += ["pinned"] if state.pinned_version == found.version else []
    marks += ["out of date"] if state.stale and state.newest_version == found.version else []
    marks += [f"{found.conversation_count} conversations"]
    marks += [f"drift {found.drift:.3f}"] if found.drift is not None else []
    return ", ".join(marks)


def _line(basin: Basin) -> str:
    title = one_line(
        f"{basin.name} ({basin.label})" if basin.name and basin.label else basin.title, TITLE_WIDTH
    )
    return (
        f"{basin.id:>4}  {basin.weight:4.0%}  {basin.member_count:>5}  {day(basin.last_visit_time)}  {title}"
    )


def _print_trajectory(body: Mapping[str, Any], titles: Mapping[str, str]) -> None:
    say("visits:")
    for visit in body.get("trajectory", [])[-VISITS:]:
        basin = visit["basin"]
        where = f"{basin}  {one_line(titles.get(basin, ''), TITLE_WIDTH)}" if basin else "–"
        say(f"  {visit['time'][:16].replace('T', ' ')}  {visit['conversation']}  {where}")
    say("what follows what:")
    for one in body.get("transitions", []):
        say(f"  {one['from'] or '–'} → {one['to'] or '–'}  {int(one['count'])}")


def _told(change: BasinChange, titles: Mapping[str, str]) -> str:
    basin, *others = (
        f"{id_} ({one_line(titles[id_], TITLE_WIDTH)})" if titles.get(id_, id_) != id_ else id_
        for id_ in (change.basin_id, *change.other_ids)
    )
    match change.kind:
        case "split":
            return f"{basin} split; out of it came {', '.join(others)}"
        case "merged":
            return f"{basin} merged into {', '.join(others)}"
        case "moved":
            return f"{basin} moved by {change.distance:.3f}"
        case "renamed":
            return f"{basin} has this name now"
        case _:
            return f"{basin} {change.kind}"
