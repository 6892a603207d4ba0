"""What the commands print is shown by a terminal, never obeyed."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from palimpsest.cli import output
from palimpsest.cli.failure import Failure
from palimpsest.cli.output import harmless, say
from palimpsest.cli.session import print_json

CLEAR = "\x1b[2J"
KEPT = "plain, tab\there\nand\r\nthere, ä 漢字 👩‍👩‍👧 עברית"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (CLEAR, "\\u001b[2J"),
        ("50 EUR\r1 EUR", "50 EUR\\u000d1 EUR"),
        ("a\b\x7f\0", "a\\u0008\\u007f\\u0000"),
        ("\x9b31m", "\\u009b31m"),
        ("\u202egnp", "\\u202egnp"),
        (KEPT, KEPT),
    ],
)
def test_control_characters_are_shown(text: str, shown: str) -> None:
    assert harmless(text) == shown


@given(st.text())
def test_json_says_the_same_before_and_after(text: str) -> None:
    for ensure_ascii in (False, True):
        assert json.loads(harmless(json.dumps([text], ensure_ascii=ensure_ascii))) == [text]


def test_texts_json_and_failures_are_printed_so() -> None:
    @click.command()
    def command() -> None:
        say(CLEAR)
        print_json({"text": "\x9b2J"})
        raise Failure(CLEAR)

    ran = CliRunner().invoke(command)
    assert (ran.exit_code, "\x1b" in ran.output, "\x9b" in ran.output) == (1, False, False)
    assert ran.output.count("\\u001b[2J") == 2


def test_no_command_prints_in_another_way() -> None:
    folder = Path(output.__file__).parent
    own = {"output.py", "failure.py"}
    assert all((folder / name).exists() for name in own)
    others = [path for path in folder.glob("*.py") if path.name not in own]
    assert len(others) > 40
    for path in others:
        code = path.read_text(encoding="utf-8")
        assert not any(way in code for way in ("click.echo", "click.secho", "sys.stdout.write", " print(")), (
            path
        )
