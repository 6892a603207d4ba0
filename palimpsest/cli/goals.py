"""`palimpsest goals`: list and change goals."""

from __future__ import annotations

from typing import get_args

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import (
    Connection,
    connected,
    find_contact,
    json_option,
    print_json,
    print_rows,
)
from palimpsest.client import AsyncClient
from palimpsest.models import GoalState, Insight

_STATES = click.Choice(get_args(GoalState))


@click.group("goals")
def command() -> None:
    """List and change goals that reflection recognised."""


@command.command("list")
@click.option("--state", "states", type=_STATES, multiple=True, help="Only in this state.")
@click.option("--contact", help="Only of this person: a contact's id, or an identity such as telegram:123.")
@json_option
@connected
def list_goals(
    connection: Connection, states: tuple[GoalState, ...], contact: str | None, as_json: bool
) -> None:
    """List goals, newest first."""

    async def work(client: AsyncClient) -> list[Insight]:
        contact_id = await find_contact(client, contact)
        return [goal async for goal in client.goals(states=states, contact_id=contact_id)]

    print_rows(connection.run(work), _line, as_json=as_json)


@command.command("set")
@click.argument("goal_id")
@click.option("--state", type=_STATES, help="How it stands.")
@click.option("--text", help="What it is.")
@json_option
@connected
def set_goal(
    connection: Connection, goal_id: str, state: GoalState | None, text: str | None, as_json: bool
) -> None:
    """Change a goal. Reflection leaves it as it is from then on."""
    if state is None and text is None:
        raise click.UsageError("nothing to change: give --state or --text")
    goal = connection.run(lambda client: client.update_goal(goal_id, state=state, text=text))
    if as_json:
        print_json(goal)
    else:
        say(f"{goal.id} is {goal.state}: {goal.text}")


def _line(goal: Insight) -> str:
    return f"{goal.id}  {goal.state or '':8}  {goal.day}  {goal.text}"
