"""`palimpsest usage`: what models took, and what is left of the tenant's budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, agent_is_named, connected, json_option, print_json
from palimpsest.cli.settings import MICROS, shown
from palimpsest.client import AsyncClient
from palimpsest.models import Limit, ModelSpend, UsageRow

DAYS = 30
HEAD = ("day", "tier", "calls", "estimated", "input", "output", "spend", "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """What calls of one model took on one day; without `spend` where that is not known."""

    day: str
    tier: str
    model: str
    calls: int
    estimated_calls: int
    input_tokens: int
    output_tokens: int
    spend_micros: int | None = None


@click.command("usage")
@click.option(
    "--days", type=click.IntRange(1, 366), default=DAYS, show_default=True, help="How far back, with today."
)
@json_option
@connected
def command(connection: Connection, days: int, as_json: bool) -> None:
    """Tell what models took by day, tier and model, and what is left of the budgets.

    Of the tenant: calls by chats, answers and tools, what they cost, and its limits. With --agent: all calls
    for that agent, also those in the background.
    """
    of_agent = agent_is_named()
    rows, limits = connection.run(lambda client: _read(client, days, of_agent=of_agent))
    if as_json:
        print_json({"rows": rows, "limits": limits})
        return
    for line in _table(rows):
        say(line)
    for one in limits:
        most, left = _amount(one, one.most), _amount(one, one.left)
        say(f"{shown(one.name):20} {most:>14} {left:>14} left{_until(one)}")


async def _read(client: AsyncClient, days: int, *, of_agent: bool) -> tuple[list[_Row], list[Limit]]:
    if of_agent:
        since = datetime.now(UTC) - timedelta(days=days - 1)
        return _by_day(await client.usage(start_time=since)), []
    return list(map(_spend, await client.model_spend(days=days))), await client.limits()


def _spend(one: ModelSpend) -> _Row:
    return _Row(**{**asdict(one), "day": one.day.isoformat()})


def _by_day(rows: Sequence[UsageRow]) -> list[_Row]:
    """Summed over conversations, in the order in which they came."""
    sums: dict[tuple[str, str, str], list[int]] = {}
    for row in rows:
        figures = sums.setdefault((f"{row.day:%Y-%m-%d}" if row.day else "", row.tier, row.model), [0] * 4)
        new = (row.calls, row.estimated_calls, row.input_tokens, row.output_tokens)
        figures[:] = (known + more for known, more in zip(figures, new, strict=True))
    return [
        _Row(
            day=day,
            tier=tier,
            model=model,
            calls=calls,
            estimated_calls=estimated,
            input_tokens=given,
            output_tokens=written,
        )
        for (day, tier, model), (calls, estimated, given, written) in sums.items()
    ]


def _table(rows: Sequence[_Row]) -> list[str]:
    if not rows:
        return ["no calls of models"]
    cells: list[tuple[str, ...]] = [HEAD]
    cells += [
        (
            row.day,
            row.tier,
            f"{row.calls:,}",
            f"{100 * row.estimated_calls / row.calls:.0f} %" if row.calls else "-",
            f"{row.input_tokens:,}",
            f"{row.output_tokens:,}",
            "-" if row.spend_micros is None else f"{row.spend_micros / MICROS:,.4f}",
            row.model,
        )
        for row in rows
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(7)]
    return [
        "  ".join(
            [
                *(text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True)),
                *(text.rjust(width) for text, width in zip(row[2:7], widths[2:], strict=True)),
                row[7],
            ]
        )
        for row in cells
    ]


def _amount(limit: Limit, value: int) -> str:
    return f"{value / MICROS:,.4f}" if limit.name.endswith("_micros") else f"{value:,}"


def _until(limit: Limit) -> str:
    origin = "" if limit.own else "  (the deployment's)"
    if not limit.wait:
        return origin
    return f", again in {timedelta(seconds=round(limit.wait))}{origin}"
