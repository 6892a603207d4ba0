"""`palimpsest settings`: what the tenant and its agents chose, and what was kept in."""

from __future__ import annotations

import dataclasses
from typing import Any, cast, get_args

import click

from palimpsest.cli.failure import Failure
from palimpsest.cli.output import say
from palimpsest.cli.session import (
    Connection,
    agent_is_named,
    connected,
    day,
    first,
    json_option,
    print_json,
    print_rows,
)
from palimpsest.client import AsyncClient
from palimpsest.models import (
    Budgets,
    Channel,
    DataFlow,
    DataFlowRefusals,
    Provider,
    ReciprocalRank,
    Settings,
    SettingsChange,
    SettingsState,
)

CHANGES = 20
DAYS = 30
FIELDS = ("data_flow", "provider", "verify", "fusion", "recall_depth")
BUDGETS = tuple(f"budgets.{field.name}" for field in dataclasses.fields(Budgets))
MICROS = 1_000_000
"""Of the currency, in what names itself so."""


def shown(name: str) -> str:
    """A field of settings or budgets as options and tables write it."""
    return name.removeprefix("budgets.").removesuffix("_micros").replace("_", "-")


PATHS = {shown(path): path for path in (*FIELDS, *BUDGETS)}


@click.group("settings")
def command() -> None:
    """Show and change settings: of the tenant, or of the agent that --agent names."""


@command.command("get")
@json_option
@connected
def get(connection: Connection, as_json: bool) -> None:
    """Print what holds, and what is set here."""
    tenant = not agent_is_named()
    state = connection.run(lambda client: client.settings(tenant=tenant))
    if as_json:
        print_json(state)
        return
    _print(state)


@command.command("set")
@click.option(
    "--data-flow",
    type=click.Choice([shown(name) for name in get_args(DataFlow)]),
    help="Whether texts may be sent to endpoints that are somebody else's.",
)
@click.option("--provider", type=click.Choice(get_args(Provider)), help="Where memories are kept besides.")
@click.option("--verify/--no-verify", default=None, help="Whether new memories are held against known ones.")
@click.option("--fusion", type=click.Choice(["adaptive", "reference"]), help="How recall fuses its channels.")
@click.option("--k", type=click.FloatRange(0, 10_000), help="The constant of the reference fusion.")
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="CHANNEL=WEIGHT",
    help="Of the reference, e.g. key=2.",
)
@click.option("--recall-depth", type=click.IntRange(15, 1000), help="Hits asked of each channel.")
@click.option("--requests-per-minute", type=click.IntRange(1), help="Calls of the tenant, each as one.")
@click.option("--request-burst", type=click.IntRange(1), help="How many of them may come at once.")
@click.option("--tokens-per-minute", type=click.IntRange(0), help="Of models, in chats, answers and tools.")
@click.option(
    "--spend-per-day",
    type=click.FloatRange(0, 1e9),
    help="What these may cost, in the currency of the deployment's prices.",
)
@click.option("--concurrent-streams", type=click.IntRange(0), help="Open calls that answer with a stream.")
@click.option(
    "--unset",
    multiple=True,
    type=click.Choice(list(PATHS)),
    help="Leave it to the tenant's, or the deployment's.",
)
@click.option("--expect", "expected_revision", type=click.IntRange(1), help="Only if this is the revision.")
@json_option
@connected
def set_(
    connection: Connection,
    data_flow: str | None,
    provider: Provider | None,
    verify: bool | None,
    fusion: str | None,
    k: float | None,
    weights: tuple[str, ...],
    recall_depth: int | None,
    requests_per_minute: int | None,
    request_burst: int | None,
    tokens_per_minute: int | None,
    spend_per_day: float | None,
    concurrent_streams: int | None,
    unset: tuple[str, ...],
    expected_revision: int | None,
    as_json: bool,
) -> None:
    """Change settings; needs an admin's key."""
    settings = Settings(
        data_flow=cast("DataFlow", data_flow.replace("-", "_")) if data_flow else None,
        provider=provider,
        verify=verify,
        fusion=_fusion(fusion, k, weights),
        recall_depth=recall_depth,
        budgets=Budgets(
            requests_per_minute=requests_per_minute,
            request_burst=request_burst,
            tokens_per_minute=tokens_per_minute,
            spend_per_day_micros=None if spend_per_day is None else round(spend_per_day * MICROS),
            concurrent_streams=concurrent_streams,
        ),
    )
    given = [path for path in (*FIELDS, *BUDGETS) if _value(settings, path) is not None]
    cleared = [PATHS[name] for name in unset]
    if not given and not cleared:
        raise Failure("nothing to change — see palimpsest settings set --help")
    if both := sorted(set(given) & set(cleared)):
        raise Failure(f"both set and unset: {', '.join(map(shown, both))}")
    tenant = not agent_is_named()

    async def work(client: AsyncClient) -> SettingsState:
        return await client.update_settings(
            settings, [*given, *cleared], tenant=tenant, expected_revision=expected_revision or 0
        )

    state = connection.run(work)
    if as_json:
        print_json(state)
        return
    _print(state)


@command.command("changes")
@click.option("--limit", type=click.IntRange(1), default=CHANGES, show_default=True, help="Most changes.")
@json_option
@connected
def changes(connection: Connection, limit: int, as_json: bool) -> None:
    """List who changed what, newest first."""
    tenant = not agent_is_named()

    async def work(client: AsyncClient) -> list[SettingsChange]:
        return await first(client.settings_changes(tenant=tenant), limit)

    print_rows(connection.run(work), _told, as_json=as_json)


@command.command("refusals")
@click.option("--days", type=click.IntRange(1, 366), default=DAYS, show_default=True, help="How far back.")
@json_option
@connected
def refusals(connection: Connection, days: int, as_json: bool) -> None:
    """Count texts of the tenant that its data flow kept in, by day and by what they were meant for."""
    found: list[DataFlowRefusals] = connection.run(lambda client: client.data_flow_report(days=days))
    print_rows(found, lambda one: f"{one.day}  {one.count:>8}  {one.kind}", as_json=as_json)


def _told(change: SettingsChange) -> str:
    what = ", ".join(
        f"{shown(path)} {_text(_value(change.before, path))} → {_text(_value(change.after, path))}"
        for path in change.paths
    )
    return f"{change.revision:>4}  {day(change.time)}  {change.subject}  {what}"


def _fusion(kind: str | None, k: float | None, weights: tuple[str, ...]) -> Any:
    if kind != "reference":
        if k is not None or weights:
            raise Failure("--k and --weight belong to --fusion reference")
        return kind
    return ReciprocalRank(k=k, weights=dict(map(_weight, weights)))


def _weight(text: str) -> tuple[Channel, float]:
    name, _, number = text.partition("=")
    try:
        if name not in get_args(Channel):
            raise ValueError(name)
        return cast("Channel", name), float(number)
    except ValueError:
        channels = ", ".join(get_args(Channel))
        raise Failure(f"not a weight: {text} — write CHANNEL=NUMBER; channels are {channels}") from None


def _value(settings: Settings, path: str) -> Any:
    """What is set under a path; money in the currency itself."""
    value: Any = settings
    for name in path.split("."):
        value = getattr(value, name, None)
    return value / MICROS if path.endswith("_micros") and value is not None else value


def _print(state: SettingsState) -> None:
    budgets = [path for path in BUDGETS if _value(state.effective, path) is not None]
    for name in (*FIELDS, *budgets):
        own, holds = _value(state.settings, name), _value(state.effective, name)
        origin = "set here" if own is not None else "the tenant's" if holds is not None else "the default"
        if own is not None and own != holds:
            origin = f"the tenant's; {_text(own)} is set here"
        say(f"{shown(name):19} {_text(holds):20} {origin}")
    say(f"revision {state.revision}")


def _text(value: Any) -> str:
    """A value for people to read."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Budgets):
        chosen = {shown(path): _value(Settings(budgets=value), path) for path in BUDGETS}
        return " ".join(f"{name}={number}" for name, number in chosen.items() if number is not None) or "-"
    if isinstance(value, ReciprocalRank):
        parts = [] if value.k is None else [f"k={value.k:g}"]
        return " ".join(["reference", *parts, *(f"{name}={w:g}" for name, w in value.weights.items())])
    return shown(str(value))
