"""Between the gateway's messages and its domain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import administration_pb2, prompt_pb2

from services.gateway.app.prompting import Assembled
from services.gateway.domain.keys import ApiKey
from services.gateway.domain.parts import Layer, LayerKind, Said, WorkingSources
from services.kit import paging
from services.kit.errors import InvalidField
from services.kit.times import to_timestamp

KEY_LISTING = "ListApiKeys"


def prompt(assembled: Assembled) -> prompt_pb2.AssemblePromptResponse:
    """In every form."""
    made, found = assembled.prompt, assembled.found
    return prompt_pb2.AssemblePromptResponse(
        layers=[_layer(layer) for layer in made.layers],
        text=made.text,
        openai_messages=[_said(said) for said in made.openai],
        anthropic_system=made.anthropic_system,
        anthropic_messages=[_said(said) for said in made.anthropic],
        token_count=made.tokens,
        budget_tokens=made.budget,
        failures=found.failures,  # type: ignore[arg-type]
        unindexed=found.unindexed,  # type: ignore[arg-type]
        system_prompt_revision=assembled.prompt_revision,
    )


def _layer(layer: Layer) -> prompt_pb2.Layer:
    return prompt_pb2.Layer(
        kind=int(layer.kind),  # type: ignore[arg-type]
        text=layer.text,
        token_count=layer.tokens,
        budget_tokens=layer.budget,
        memory_ids=layer.memory_ids,
        messages=[
            resources_pb2.MessageRef(conversation_id=turn.conversation_id, message_id=turn.message_id)
            for turn in layer.turns
        ],
        omitted_count=layer.omitted,
        overlay_ids=layer.overlay_ids,
        working=_working(layer.working) if layer.kind is LayerKind.WORKING else None,
    )


def _working(sources: WorkingSources) -> prompt_pb2.WorkingSources:
    return prompt_pb2.WorkingSources(
        notes_version=sources.notes_version,
        task=sources.task,
        turn_id=sources.turn_id,
        result_count=sources.result_count,
        entries=sources.entries,
    )


def _said(said: Said) -> prompt_pb2.PromptMessage:
    return prompt_pb2.PromptMessage(role=int(said.role), content=said.content)  # type: ignore[arg-type]


def key(value: ApiKey) -> administration_pb2.ApiKey:
    """Without its secret, which nobody has."""
    return administration_pb2.ApiKey(
        id=value.id,
        display_name=value.display_name,
        role=int(value.role),  # type: ignore[arg-type]
        agent_ids=sorted(value.agents or ()),
        create_time=to_timestamp(value.created),
        expire_time=to_timestamp(value.expires),
        revoke_time=to_timestamp(value.revoked),
    )


def lifetime(request: administration_pb2.CreateApiKeyRequest) -> timedelta | None:
    """None is for ever. Raises InvalidField for one beyond the calendar."""
    if not request.HasField("lifetime"):
        return None
    if request.lifetime.seconds > timedelta(days=36500).total_seconds():
        raise InvalidField("lifetime", "at most 100 years")
    return request.lifetime.ToTimedelta()


def after(request: administration_pb2.ListApiKeysRequest) -> int:
    """The number that the page begins after."""
    position = paging.decode(KEY_LISTING, request.page_token)
    return int(position[0]) if position else 0


def key_page(
    request: administration_pb2.ListApiKeysRequest, rows: Sequence[tuple[int, ApiKey]]
) -> administration_pb2.ListApiKeysResponse:
    """One more row than the page holds says that there is a next one."""
    size = paging.page_size(request.page_size)
    token = paging.encode(KEY_LISTING, (rows[size - 1][0],)) if len(rows) > size else ""
    return administration_pb2.ListApiKeysResponse(
        keys=[key(row) for _, row in rows[:size]], next_page_token=token
    )
