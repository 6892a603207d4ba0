"""The command `palimpsest`. Commands are imported when they run, so that help is fast."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from palimpsest.cli.output import say

COMMANDS: Mapping[str, str] = {
    "up": "Run the whole suite on this machine.",
    "ingest": "Store a transcript file.",
    "recall": "Find memories, or messages.",
    "search": "Find summaries, pages, branches and themes.",
    "remember": "Write a memory.",
    "memories": "List memories; show and change how they replace each other.",
    "forget": "Delete a memory with all its versions.",
    "prompt": "Assemble the prompt of the next turn.",
    "conversations": "List conversations, newest first.",
    "chat": "Talk with a model that remembers.",
    "tools": "List and run the tools that a model gets.",
    "mcp": "Serve memory to a host of the Model Context Protocol.",
    "show": "Show a conversation, summaries over messages.",
    "branches": "List the continuations of a message.",
    "switch": "Make another path the active one.",
    "fork": "Begin a conversation with another's messages.",
    "watch": "Watch a conversation as it happens.",
    "notes": "Print or change a conversation's notes.",
    "task": "Print or change the ongoing task.",
    "goals": "List and change goals.",
    "reflections": "List what recurred, or was learned.",
    "consolidate": "Merge memories that say the same; undo it.",
    "graph": "List, merge, rename and split the themes of conversations.",
    "wiki": "Show the page of a theme, and its versions.",
    "blocks": "List and change context blocks.",
    "summary": "Show a conversation's summary; correct it.",
    "attractor": "Show the agent's themes; name, pin and compare them.",
    "state": "Read, write and watch state documents.",
    "records": "List collections; put and find records.",
    "keys": "List, create, rotate and revoke API keys.",
    "settings": "Show and change settings; count texts that were kept in.",
    "usage": "Tell what models took, and what is left of budgets.",
    "status": "Tell what runs, and how its jobs stand.",
    "reindex": "Build the indexes again.",
    "jobs": "List, watch, retry and cancel jobs.",
    "progress": "Tell how far a conversation is derived.",
    "schedules": "List, trigger and change what comes round.",
    "bench": "Run a benchmark.",
}
"""Each is the function `command` of the module of its name."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names, in the order in which help shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Imports the command."""
        if cmd_name not in COMMANDS:
            return None
        # gRPC's library writes of closed connections to standard error, which is for our one line.
        os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
        command = import_module(f"palimpsest.cli.{cmd_name}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"palimpsest.cli.{cmd_name} has no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: Any) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        say(f"palimpsest {version('palimpsest')}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
def main() -> None:
    """Durable memory for LLM agents.

    Start a suite with `palimpsest up`; the other commands find it. $PALIMPSEST_TARGET and
    $PALIMPSEST_API_KEY name another one.
    """
