"""The tools that a model is given: their schemas say what the calls behind take (SPEC G-6, W-6)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from buf.validate import validate_pb2
from google.protobuf.message import Message
from jsonschema import Draft202012Validator
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.gateway.v1 import memories_pb2
from palimpsest.search.v1 import search_pb2
from palimpsest.working.v1 import context_pb2, notes_pb2

from services.gateway.app.tool_calls import HANDLERS
from services.gateway.domain.tool_shapes import anthropic, mcp, openai
from services.gateway.domain.tools import (
    CATEGORIES,
    CONTEXT_LEAST,
    DOCUMENT_TYPES,
    MODES,
    NAME_PATTERN,
    ROLES,
    ToolSpec,
    own_tools,
)
from services.kit.identity import Role
from services.memory.episodic.domain.blocks import Kind
from services.memory.episodic.domain.blocks_tools import tools_of
from tests.unit.test_working_rules import block

CONTEXT = [
    ToolSpec(
        name=tool.name,
        description=tool.description,
        properties=tool.input_schema["properties"],  # type: ignore[arg-type]
        required=tuple(tool.input_schema["required"]),  # type: ignore[arg-type]
        least=CONTEXT_LEAST[tool.name],
    )
    for tool in tools_of([block(kind, label=kind.name.lower()) for kind in Kind])
]
ALL = [*own_tools(with_contact=True), *CONTEXT]
BY_NAME = {spec.name: spec for spec in ALL}
STRICT_KEYWORDS = {
    *("type", "description", "enum", "pattern", "minimum", "maximum", "items", "maxItems"),
    *("properties", "required", "additionalProperties"),
}
"""What OpenAI's structured outputs take, of what is used here."""

FIELDS: dict[tuple[str, str], list[tuple[type[Message], str]]] = {
    ("remember", "key"): [(memories_pb2.RememberRequest, "key")],
    ("remember", "value"): [(memories_pb2.RememberRequest, "value")],
    ("recall", "key"): [(memories_pb2.GetMemoryByKeyRequest, "key")],
    ("recall", "page_token"): [(memories_pb2.ListMemoriesRequest, "page_token")],
    ("search_memory", "query"): [(memories_pb2.RecallRequest, "query")],
    ("search_memory", "limit"): [(memories_pb2.RecallRequest, "limit")],
    ("recall_conversation", "query"): [(memories_pb2.RecallConversationRequest, "query")],
    ("recall_conversation", "limit"): [(memories_pb2.RecallConversationRequest, "limit")],
    ("search_documents", "query"): [(search_pb2.SearchDocumentsRequest, "query")],
    ("search_documents", "types"): [(search_pb2.SearchDocumentsRequest, "types")],
    ("search_documents", "limit"): [(search_pb2.SearchDocumentsRequest, "limit")],
    ("set_notes", "text"): [(notes_pb2.SetNotesRequest, "replace"), (notes_pb2.SetNotesRequest, "append")],
    ("set_ongoing_task", "text"): [(notes_pb2.SetTaskRequest, "text")],
    ("set_context", "content"): [
        (context_pb2.SetContextRequest, "replace"),
        (context_pb2.SetContextRequest, "append"),
    ],
    ("search_context", "query"): [(context_pb2.SearchContextRequest, "query")],
    ("search_context", "limit"): [(context_pb2.SearchContextRequest, "limit")],
    ("load_context", "key"): [(context_pb2.LoadContextRequest, "key")],
    ("unload_context", "key"): [(context_pb2.UnloadContextRequest, "key")],
}
"""Where each argument with a bound goes."""


def rules(message: type[Message], name: str) -> validate_pb2.FieldRules:
    field = message.DESCRIPTOR.fields_by_name[name]
    made: validate_pb2.FieldRules = field.GetOptions().Extensions[validate_pb2.field]
    return made


def names_of(enum: Any, prefix: str) -> set[str]:
    """The names of an enum's values, without the first, as tools spell them."""
    return {value.name.removeprefix(prefix).lower() for value in enum.DESCRIPTOR.values[1:]}


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.name)
def test_a_definition_is_one_that_models_are_told(spec: ToolSpec) -> None:
    Draft202012Validator.check_schema(spec.schema)
    assert re.fullmatch(NAME_PATTERN, spec.name)
    assert spec.schema["type"] == "object"
    assert spec.schema["additionalProperties"] is False
    assert set(spec.required) <= set(spec.properties)
    assert "Use it" in spec.description
    assert all(each["description"] for each in spec.properties.values())


def test_bounded_arguments_are_known_to_the_next_test() -> None:
    """One that is new needs an entry; choices and labels have their bound in themselves."""
    bounded = {
        (spec.name, name)
        for spec in ALL
        for name, each in spec.properties.items()
        if {"maxLength", "maximum", "pattern", "maxItems"} & set(each)
    }
    assert bounded == set(FIELDS)


@pytest.mark.parametrize(("where", "fields"), FIELDS.items(), ids=lambda value: str(value)[:40])
def test_bounds_are_those_of_the_calls(
    where: tuple[str, str], fields: list[tuple[type[Message], str]]
) -> None:
    """Where a call takes 0 for its default, the tool's argument is left out: it begins at 1."""
    schema = BY_NAME[where[0]].properties[where[1]]
    for message, name in fields:
        rule = rules(message, name)
        match rule.WhichOneof("type"):
            case "string" if rule.string.pattern:
                assert schema["pattern"] == rule.string.pattern
            case "string":
                most = rule.string.max_bytes or rule.string.max_len
                assert schema["maxLength"] == most
                assert schema["minLength"] in (0, max(rule.string.min_bytes, rule.string.min_len))
            case "int32":
                assert (schema["minimum"], schema["maximum"]) == (rule.int32.gte + 1, rule.int32.lte)
            case "repeated":
                assert schema["maxItems"] == rule.repeated.max_items
            case other:
                raise AssertionError(other)


def test_choices_are_all_that_the_calls_know() -> None:
    """S-2 for categories."""
    assert set(CATEGORIES) == names_of(resources_pb2.FactType, "FACT_TYPE_")
    assert set(MODES) == names_of(recall_pb2.SearchMode, "SEARCH_MODE_")
    assert set(ROLES) == names_of(resources_pb2.Role, "ROLE_")
    assert set(DOCUMENT_TYPES) == names_of(search_pb2.DocumentType, "DOCUMENT_TYPE_")


def test_every_tool_is_run_by_something_and_nothing_else_is() -> None:
    assert set(HANDLERS) == set(BY_NAME)
    assert set(CONTEXT_LEAST) == {spec.name for spec in CONTEXT}
    assert [spec.name for spec in own_tools(with_contact=False)] == sorted(
        spec.name for spec in own_tools(with_contact=False)
    )


def test_tools_that_write_are_not_for_readers() -> None:
    writing = {spec.name for spec in ALL if spec.least is Role.WRITER}
    assert writing == {
        *("remember", "set_notes", "set_ongoing_task", "clear_ongoing_task"),
        *("set_context", "load_context", "unload_context"),
    }
    assert {spec.name for spec in ALL if spec.read_only} == set(BY_NAME) - writing


def test_where_messages_are_looked_for_depends_on_the_contact() -> None:
    """S-5, S-12: with a contact no choice reaches beyond that person."""

    def scopes(with_contact: bool) -> list[str]:
        spec = next(one for one in own_tools(with_contact=with_contact) if one.name == "recall_conversation")
        found: list[str] = spec.properties["scope"]["enum"]
        return found

    assert scopes(True) == ["contact", "conversation"]
    assert scopes(False) == ["conversation", "all"]


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.name)
def test_openais_shape_keeps_to_its_strict_mode(spec: ToolSpec) -> None:
    made = openai(spec)
    assert (made["type"], made["function"]["name"], made["function"]["strict"]) == (
        "function",
        spec.name,
        True,
    )
    parameters = made["function"]["parameters"]
    Draft202012Validator.check_schema(parameters)
    assert parameters["required"] == list(spec.properties)
    assert parameters["additionalProperties"] is False
    for name, each in parameters["properties"].items():
        assert set(each) <= STRICT_KEYWORDS
        optional = name not in spec.required
        assert (isinstance(each["type"], list) and "null" in each["type"]) == optional
        assert ("enum" in each and None in each["enum"]) == (optional and "enum" in each)
        if "maxLength" in spec.properties[name]:
            assert str(spec.properties[name]["maxLength"]) in each["description"]


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.name)
def test_the_other_shapes_hold_the_schema_as_it_is(spec: ToolSpec) -> None:
    assert anthropic(spec) == {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.schema,
    }
    made = mcp(spec)
    assert made["inputSchema"] == spec.schema
    assert made["annotations"]["readOnlyHint"] == (spec.least is Role.READER)
