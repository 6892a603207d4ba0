"""Text that is not its author's own word never becomes a fact (SPEC J-8, G-3)."""

from __future__ import annotations

import pytest

from services.kit.fences import fenced
from tests.unit.extracting_parts import values

OWN = "I live in Oslo."
"""Read whenever it stands by itself: the positive control of every absence here."""

FOREIGN = {
    "a recalled memory": fenced("memories", OWN),
    "a fence that never ends": f"⟦data: memories⟧\n{OWN}",
    "a header": "⟦I live in Oslo⟧",
    "a quoted line": f"> {OWN}",
    "a quotation": f'The card says "{OWN}"',
    "a quotation of several sentences": 'She wrote: "It is cold. I live in Oslo. Greetings."',
    "typographic quotation marks": "The card says “I live in Oslo.”",
    "single quotation marks": "The card says 'I live in Oslo.'",
    "German quotation marks": "Auf der Karte steht „I live in Oslo.“",
    "French quotation marks": "Il a dit « I live in Oslo. »",
    "a code block": f"```\n{OWN}\n```",
    "a code block that never ends": f"~~~\n{OWN}",
    "inline code": "`I live in Oslo.`",
    "a pasted mail": f"On Tuesday, 3 May, Ann wrote:\n{OWN}",
    "a forwarded mail": f"----- Forwarded message -----\n{OWN}",
    "a mail with its header": f"From: Ann\nTo: Kim\n{OWN}",
    "a German mail": f"Am Dienstag schrieb Ann:\n{OWN}",
    "a row of a table": f"| {OWN} |",
    "a form": "Name: Ann\nCity: Oslo\nNote: I live in Oslo.",
    "markup": f"<p>{OWN}</p>",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_text_is_left_out(name: str) -> None:
    assert values(FOREIGN[name]) == []


@pytest.mark.parametrize("name", ["a recalled memory", "a quoted line", "a code block", "a row of a table"])
def test_what_its_author_adds_is_read(name: str) -> None:
    added = f"I work at the harbour.\n{FOREIGN[name]}\nI love rain."
    assert values(OWN) == ["Kim lives in Oslo"]
    assert values(added) == ["Kim works at the harbour", "Kim loves rain"]


def test_something_put_on_ones_own_list_is_no_quotation() -> None:
    assert values('Put "buy stamps" on my to-do list.') == ["Kim needs to buy stamps"]


def test_an_apostrophe_is_no_quotation_mark() -> None:
    assert values("I love Ann's songs and Bob's poems.") == ["Kim loves Ann's songs and Bob's poems"]


def test_a_list_is_read_item_by_item() -> None:
    assert values("- I live in Oslo\n- I love rain") == ["Kim lives in Oslo", "Kim loves rain"]
