"""Arguments of tools, held against their schemas (SPEC G-6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.adapters.tool_arguments import MOST_PROBLEMS, problems
from services.gateway.domain.tools import KEY_PATTERN, QUERY_BYTES, VALUE_BYTES, own_tools

SCHEMAS = {spec.name: spec.schema for spec in own_tools(with_contact=True)}
GOOD = {"key": "ann.tea", "value": "Ann likes tea."}
SECRET = "zq-secret-zq"


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("remember", {}, ["key: is required; value: is required"]),
        ("remember", {**GOOD, "key": "Ann Tea"}, [f"key: must match {KEY_PATTERN}"]),
        ("remember", {**GOOD, "key": "ann.tea\n"}, [f"key: must match {KEY_PATTERN}"]),
        ("remember", {**GOOD, "value": 5}, ["value: must be of type string"]),
        ("remember", {**GOOD, "value": ""}, ["value: must not be empty"]),
        (
            "remember",
            {**GOOD, "value": "a" * (VALUE_BYTES + 1)},
            ["value: must have at most 8192 bytes in UTF-8"],
        ),
        ("remember", {**GOOD, "value": "é" * VALUE_BYTES}, ["value: must have at most 8192 bytes in UTF-8"]),
        ("remember", {**GOOD, "value": "a\ud800b"}, ["value: must be valid Unicode"]),
        ("remember", {**GOOD, "value": "a\x00b"}, ["value: must not contain the character U+0000"]),
        (
            "remember",
            {**GOOD, "contact_id": SECRET},
            ["arguments: there are others than this tool has (key, value, category)"],
        ),
        ("search_memory", {"query": "tea", "limit": 0}, ["limit: must be at least 1"]),
        ("search_memory", {"query": "tea", "limit": 101}, ["limit: must be at most 100"]),
        ("search_memory", {"query": "tea", "limit": True}, ["limit: must be of type integer"]),
        ("search_memory", {"query": "tea", "limit": 1.5}, ["limit: must be of type integer"]),
        (
            "recall_conversation",
            {"query": "tea", "scope": "all"},
            ["scope: must be one of contact, conversation"],
        ),
        (
            "search_documents",
            {"query": "tea", "types": ["message"]},
            ["types.0: must be one of summary, page, branch, theme"],
        ),
        (
            "get_ongoing_task",
            {SECRET: 1},
            ["arguments: there are others than this tool has (none at all)"],
        ),
    ],
)
def test_what_is_wrong_is_said_so_that_it_can_be_put_right(
    tool: str, arguments: dict[str, Any], said: list[str]
) -> None:
    assert problems(SCHEMAS[tool], arguments) == said


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", GOOD),
        ("remember", {**GOOD, "key": "k" * 200, "value": "é" * (VALUE_BYTES // 2), "category": "task"}),
        ("search_memory", {"query": "q" * QUERY_BYTES, "limit": 5.0}),
        ("search_documents", {"query": "tea", "types": []}),
        ("set_notes", {"text": ""}),
        ("get_ongoing_task", {}),
    ],
)
def test_what_is_within_the_bounds_passes(tool: str, arguments: dict[str, Any]) -> None:
    assert problems(SCHEMAS[tool], arguments) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(
    tool=st.sampled_from(sorted(SCHEMAS)),
    arguments=st.dictionaries(
        st.sampled_from(["key", "value", "query", "limit", "scope", "types", "text", "contact_id"])
        | st.text(max_size=8),
        JSON | st.just(SECRET),
        max_size=5,
    ),
)
def test_nothing_that_json_can_say_breaks_the_check_or_comes_back(
    tool: str, arguments: dict[str, Any]
) -> None:
    found = problems(SCHEMAS[tool], arguments)
    assert len(found) <= MOST_PROBLEMS
    assert SECRET not in "\n".join(found)
    if not set(arguments) <= set(SCHEMAS[tool]["properties"]):
        assert found
