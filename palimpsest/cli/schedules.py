"""`palimpsest schedules`: list, trigger and change what comes round."""

from __future__ import annotations

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, day, json_option, print_json, print_rows
from palimpsest.client import AsyncClient
from palimpsest.models import Schedule


@click.group("schedules")
def command() -> None:
    """List, trigger and change work that comes round."""


@command.command("list")
@json_option
@connected
def list_schedules(connection: Connection, as_json: bool) -> None:
    """List the schedules of the deployment, with the times of their last and next runs, in UTC."""
    print_rows(connection.run(AsyncClient.schedules), _line, as_json=as_json)


@command.command("trigger")
@click.argument("name")
@json_option
@connected
def trigger_schedule(connection: Connection, name: str, as_json: bool) -> None:
    """Ask for a schedule's work now, for the key's own tenant; needs an admin's key."""
    key = connection.run(lambda client: client.trigger_schedule(name))
    if as_json:
        print_json({"name": name, "idempotency_key": key})
    else:
        say(f"{name} is asked for, as {key}")


@command.command("set")
@click.argument("name")
@click.option("--cron", help='Minute, hour, day, month, day of week, in UTC; "" for the built-in one.')
@click.option("--enable/--disable", "enabled", default=None, help="Whether it runs by itself.")
@json_option
@connected
def set_schedule(
    connection: Connection, name: str, cron: str | None, enabled: bool | None, as_json: bool
) -> None:
    """Change a schedule, for the whole deployment; needs an operator's key."""
    if cron is None and enabled is None:
        raise click.UsageError("nothing to change: give --cron, --enable or --disable")
    changed = connection.run(lambda client: client.update_schedule(name, cron=cron, enabled=enabled))
    if as_json:
        print_json(changed)
    else:
        say(_line(changed))


def _line(one: Schedule) -> str:
    last = day(one.last_run_time) or "never"
    coming = day(one.next_run_time) if one.enabled else "disabled"
    return f"{one.name:14} {one.cron:14} last {last:16}  next {coming}"
