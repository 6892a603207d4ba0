"""`palimpsest tools`: the tools that a model gets in a conversation."""

from __future__ import annotations

import json
from typing import Any, get_args

import click

from palimpsest.cli.failure import Failure
from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json
from palimpsest.client import AsyncClient
from palimpsest.models import Tool, ToolFormat, ToolOutcome


@click.group("tools")
def command() -> None:
    """List and run the tools that a model gets in a conversation."""


@command.command("list")
@click.argument("conversation")
@click.option(
    "--format", "shape", type=click.Choice(get_args(ToolFormat)), help="Print JSON as this API takes it."
)
@json_option
@connected
def list_(connection: Connection, conversation: str, shape: ToolFormat | None, as_json: bool) -> None:
    """List the tools of CONVERSATION that the key may call."""

    async def work(client: AsyncClient) -> list[Tool]:
        return await client.list_tools(conversation, format=shape)

    tools = connection.run(work)
    if shape:
        print_json([tool.definition for tool in tools])
    elif as_json:
        print_json(tools)
    else:
        for tool in tools:
            required = tool.input_schema["required"]
            others = [f"[{name}]" for name in tool.input_schema["properties"] if name not in required]
            given = [*required, *others]
            say(f"{tool.name}({', '.join(given)}){'' if tool.read_only else '  writes'}")


@command.command("call")
@click.argument("conversation")
@click.argument("name")
@click.argument("arguments", metavar="[JSON]", default="{}")
@json_option
@connected
def call(connection: Connection, conversation: str, name: str, arguments: str, as_json: bool) -> None:
    """Run the tool NAME of CONVERSATION as a model would, with its arguments as a JSON object.

    What it says is printed; the exit status tells whether it did what was asked.
    """
    given = _object(arguments)

    async def work(client: AsyncClient) -> ToolOutcome:
        return await client.call_tool(conversation, name, given)

    made = connection.run(work)
    if as_json:
        print_json(made)
    else:
        say(made.content)
    if made.is_error:
        raise click.exceptions.Exit(1)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Failure(f"the arguments are no JSON: {error}") from error
    if not isinstance(value, dict):
        raise Failure('the arguments must be a JSON object, such as {"key": "tea"}')
    return value
