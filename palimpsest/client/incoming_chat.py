"""Chats and answers as values of the client."""

from __future__ import annotations

from google.protobuf.json_format import MessageToDict

from palimpsest import models
from palimpsest.chat.v1 import chat_pb2 as pb
from palimpsest.client import incoming, names
from palimpsest.client.searching import document_hit


def event(proto: pb.ChatResponse) -> models.ChatEvent | None:
    """What happened; None for what is newer than this client."""
    match proto.WhichOneof("event"):
        case "started":
            return _started(proto.started)
        case "delta":
            return models.TextDelta(proto.delta.text)
        case "tool_call":
            call = proto.tool_call
            arguments = MessageToDict(call.arguments)
            return models.ToolCallStarted(
                models.ToolCall(call_id=call.call_id, name=call.name, arguments=arguments)
            )
        case "tool_result":
            result = proto.tool_result
            return models.ToolCallFinished(
                call_id=result.call_id, is_error=result.is_error, preview=result.preview, reused=result.reused
            )
        case "finished":
            return _finished(proto.finished)
    return None


def _started(proto: pb.TurnStarted) -> models.TurnStarted:
    return models.TurnStarted(
        user_message_id=proto.user_message_id,
        system_prompt_revision=proto.system_prompt_revision,
        unindexed=incoming.unindexed(proto.unindexed),
        failures=incoming.failures(proto.failures),
        memory_ids=tuple(proto.memory_ids),
        messages=incoming.refs(proto.messages),
        replayed=proto.replayed,
    )


def _finished(proto: pb.TurnFinished) -> models.TurnFinished:
    token = incoming.token(proto)
    return models.TurnFinished(
        assistant_message_id=proto.assistant_message_id,
        token=token if isinstance(token, models.MessageToken) else None,
        usage=_usage(proto.usage),
        model=proto.model,
        truncated=proto.truncated,
        interruption=incoming.interruption(proto.interruption) if proto.HasField("interruption") else None,
        first_token=proto.first_token.ToTimedelta() if proto.HasField("first_token") else None,
        rounds=proto.rounds,
    )


def _usage(proto: pb.ModelUsage) -> models.ModelUsage:
    return models.ModelUsage(
        calls=proto.calls,
        estimated_calls=proto.estimated_calls,
        input_tokens=proto.input_tokens,
        output_tokens=proto.output_tokens,
    )


def answer(proto: pb.AnswerResponse) -> models.Answer:
    """An answer with its evidence; what is of a kind newer than this client is left out."""
    return models.Answer(
        evidence=tuple(made for one in proto.evidence if (made := _evidence(one)) is not None),
        text=proto.text,
        cited=tuple(proto.cited),
        no_text_reason=names.NO_TEXT_REASONS.name(proto.no_text_reason) or None,
        usage=_usage(proto.usage),
        model=proto.model,
        failures=incoming.failures(proto.failures),
        unindexed=incoming.unindexed(proto.unindexed),
    )


def _evidence(proto: pb.Evidence) -> models.Evidence | None:
    source: models.Memory | models.Message | models.DocumentHit
    match proto.WhichOneof("source"):
        case "memory":
            source = incoming.memory(proto.memory)
        case "message":
            source = incoming.message(proto.message)
        case "document":
            source = document_hit(proto.document)
        case _:
            return None
    return models.Evidence(
        number=proto.number, source=source, explanation=incoming.explanation(proto.explanation)
    )
