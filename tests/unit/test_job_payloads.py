"""Payloads are read in one way, whoever enqueued them (SPEC J-1)."""

from __future__ import annotations

import pytest

from services.compactor.domain import payloads


@pytest.mark.parametrize(
    "payload", [b"", b"{", b"\xff", b"[]", b"1", b"null", b'"text"', b"[" * 100_000, b"{}"]
)
def test_what_is_no_object_says_nothing(payload: bytes) -> None:
    assert payloads.said(payload) == {}
    assert payloads.text(payload, "branch_id") == ""


def test_an_object_says_what_it_names() -> None:
    payload = b'{"branch_id": "b", "place": 3, "none": null}'
    assert payloads.said(payload)["place"] == 3
    assert payloads.text(payload, "branch_id") == "b"
    assert payloads.text(payload, "place") == payloads.text(payload, "none") == ""
