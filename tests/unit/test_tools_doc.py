"""docs/tools.md says of each tool what its definition says; its configurations can be copied (SPEC G-6)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from palimpsest.cli.mcp import command
from services.gateway.domain.tools import CONTEXT_LEAST, own_tools

TEXT = (Path(__file__).parents[2] / "docs" / "tools.md").read_text("utf-8")
ROWS = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| `")]
TABLE = {name: row for row in ROWS for name in re.findall(r"`(\w+)`", row[0])}
CONFIGURATIONS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]


def test_every_tool_has_its_row() -> None:
    """With its arguments and its least role."""
    for spec in own_tools(with_contact=True):
        _, arguments, least, _ = TABLE[spec.name]
        said = [] if arguments == "–" else arguments.split(", ")
        assert sorted(said) == sorted(
            name if name in spec.required else f"[{name}]" for name in spec.properties
        ), spec.name
        assert least == spec.least.name.lower()
    for name, role in CONTEXT_LEAST.items():
        assert TABLE[name][2] == role.name.lower()


@pytest.mark.parametrize("made", CONFIGURATIONS, ids=lambda made: next(iter(made)))
def test_a_configuration_is_one_of_the_command_or_of_the_address(
    made: dict[str, dict[str, dict[str, object]]],
) -> None:
    ((_, server),) = next(iter(made.values())).items()
    if "url" in server:
        assert str(server["url"]).endswith("/mcp?agent=ada&conversation=desk")
        return
    assert server["command"] == "palimpsest"
    first, *arguments = [str(each) for each in server["args"]]  # type: ignore[attr-defined]
    assert first == "mcp"
    context = command.make_context("mcp", arguments)
    assert context.params["agent"] == "ada"


def test_there_are_configurations() -> None:
    assert len(CONFIGURATIONS) == 3
