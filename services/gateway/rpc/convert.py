"""Between the gateway's messages and its domain."""

from __future__ import annotations

from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import prompt_pb2
from palimpsest.search.v1 import search_pb2

from services.gateway.app.prompting import Assembled
from services.gateway.domain.parts import Layer, LayerKind, Passage, Said, WorkingSources


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
        exact_tokens=assembled.exact,
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
        documents=[_document(passage) for passage in layer.documents],
        attractor_version=layer.attractor_version,
        summary_version=layer.summary_version,
    )


def _document(passage: Passage) -> prompt_pb2.DocumentSource:
    return prompt_pb2.DocumentSource(
        type=search_pb2.DocumentType.Value(f"DOCUMENT_TYPE_{passage.kind.upper()}"),
        document_id=passage.document_id,
        version=passage.version,
        title=passage.title,
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
