"""Between ChatService's messages and turns."""

from __future__ import annotations

from typing import Any

from google.protobuf.duration_pb2 import Duration
from palimpsest.chat.v1 import chat_pb2 as pb
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.search.v1 import search_pb2

from services.gateway.app.answering import Question, Reply
from services.gateway.domain import turns
from services.kit.errors import InvalidField
from services.kit.models.types import Tier, Usage

TIERS = {
    pb.MODEL_TIER_UNSPECIFIED: Tier.STANDARD,
    pb.MODEL_TIER_FAST: Tier.FAST,
    pb.MODEL_TIER_STANDARD: Tier.STANDARD,
    pb.MODEL_TIER_DEEP: Tier.DEEP,
}


def ask(request: pb.ChatRequest, *, tenant: str, request_id: str, rounds: int) -> turns.Ask:
    """`request_id` is the caller's or a new one; `rounds` the server's most. Raises InvalidField."""
    for name in ("text", "author"):
        if "\0" in getattr(request.message, name):
            # Episodic would say so too, by the names of its own request, and after the prompt was made.
            raise InvalidField(f"message.{name}", "holds a NUL character")
    wanted = min(request.max_rounds or rounds, rounds)
    return turns.Ask(
        place=turns.Place(tenant=tenant, agent_id=request.agent_id, conversation_id=request.conversation_id),
        request_id=request_id,
        text=request.message.text,
        author=request.message.author,
        tier=TIERS[request.tier],
        rounds=0 if request.no_tools else wanted,
        budget=request.budget_tokens,
        wait=request.wait.ToTimedelta().total_seconds(),
        wait_for=list(request.wait_for),
    )


def event(value: turns.Event) -> pb.ChatResponse:
    """On the wire."""
    match value:
        case turns.Started():
            return pb.ChatResponse(started=_started(value))
        case turns.Said(text=text):
            return pb.ChatResponse(delta=pb.TextDelta(text=text))
        case turns.Called(call=call):
            made = pb.ToolCallStarted(call_id=call.call_id, name=call.name)
            made.arguments.update(dict(call.arguments or {}))
            return pb.ChatResponse(tool_call=made)
        case turns.Returned(call=call, result=result):
            returned = pb.ToolCallFinished(
                call_id=call.call_id, is_error=result.is_error, preview=result.preview, reused=value.reused
            )
            return pb.ChatResponse(tool_result=returned)
        case turns.Finished():
            return pb.ChatResponse(finished=_finished(value))


def _started(value: turns.Started) -> pb.TurnStarted:
    return pb.TurnStarted(
        user_message_id=value.user_message_id,
        system_prompt_revision=value.prompt_revision,
        unindexed=value.unindexed,  # type: ignore[arg-type]
        failures=value.failures,  # type: ignore[arg-type]
        memory_ids=value.memory_ids,
        messages=[
            resources_pb2.MessageRef(conversation_id=conversation, message_id=message)
            for conversation, message in value.messages
        ],
        replayed=value.replayed,
    )


def _finished(value: turns.Finished) -> pb.TurnFinished:
    token: Any = value.token
    made = pb.TurnFinished(
        assistant_message_id=value.assistant_message_id,
        token=token,
        usage=usage(value.usage),
        model=value.model,
        truncated=value.truncated,
        rounds=value.rounds,
    )
    if value.interrupted:
        cause = int(value.interruption or 0)
        made.interruption.CopyFrom(resources_pb2.Interruption(cause=cause))  # type: ignore[arg-type]
    if value.first_token is not None:
        first = Duration()
        first.FromNanoseconds(int(value.first_token * 1e9))
        made.first_token.CopyFrom(first)
    return made


def usage(value: Usage) -> pb.ModelUsage:
    """On the wire."""
    return pb.ModelUsage(
        calls=value.calls,
        estimated_calls=value.estimated_calls,
        input_tokens=value.input_tokens,
        output_tokens=value.output_tokens,
    )


def question(request: pb.AnswerRequest) -> Question:
    """From the wire."""
    return Question(
        agent_id=request.agent_id,
        query=request.query,
        contact_id=request.contact_id,
        conversation_id=request.conversation_id,
        scope=request.scope,
        limit=request.limit,
        tier=TIERS[request.tier],
        evidence_only=request.evidence_only,
        wait_for=list(request.wait_for),
    )


def reply(value: Reply) -> pb.AnswerResponse:
    """On the wire."""
    return pb.AnswerResponse(
        evidence=[_evidence(number, hit) for number, hit in enumerate(value.evidence.hits, 1)],
        text=value.text,
        cited=value.cited,
        no_text_reason=int(value.no_text),  # type: ignore[arg-type]
        usage=usage(value.usage),
        model=value.model,
        failures=value.evidence.failures,  # type: ignore[arg-type]
        unindexed=value.evidence.unindexed,  # type: ignore[arg-type]
    )


def _evidence(number: int, hit: Any) -> pb.Evidence:
    if isinstance(hit, recall_pb2.MemoryHit):
        return pb.Evidence(number=number, memory=hit.memory, explanation=hit.explanation)
    if isinstance(hit, search_pb2.DocumentHit):
        return pb.Evidence(number=number, document=hit, explanation=hit.explanation)
    return pb.Evidence(number=number, message=hit.message, explanation=hit.explanation)
