"""Values of the client as messages of the protos."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from palimpsest import models
from palimpsest.client.names import CHANNELS, INTERRUPTION_CAUSES, ROLES
from palimpsest.common.v1 import recall_pb2, resources_pb2


def timestamp(time: datetime | None) -> Timestamp | None:
    """A proto's time; ValueError for one without a time zone."""
    if time is None:
        return None
    if time.tzinfo is None:
        raise ValueError("a time needs a time zone")
    made = Timestamp()
    made.FromDatetime(time)
    return made


def duration(span: timedelta | None) -> Duration | None:
    """A proto's duration."""
    if span is None:
        return None
    made = Duration()
    made.FromTimedelta(span)
    return made


def tool_call(value: models.ToolCall) -> resources_pb2.ToolCall:
    """A call of a tool."""
    call = resources_pb2.ToolCall(call_id=value.call_id, name=value.name)
    call.arguments.update(dict(value.arguments))
    return call


def part(value: models.Part) -> resources_pb2.Part:
    """A part of a message."""
    match value:
        case models.TextPart():
            return resources_pb2.Part(text=value.text)
        case models.ToolCall():
            return resources_pb2.Part(tool_call=tool_call(value))
        case models.ToolResult():
            result = resources_pb2.ToolResult(
                call_id=value.call_id, content=value.content, is_error=value.is_error
            )
            return resources_pb2.Part(tool_result=result)
        case models.Attachment():
            attachment = resources_pb2.Attachment(
                uri=value.uri, media_type=value.media_type, caption=value.caption
            )
            return resources_pb2.Part(attachment=attachment)
        case models.Interruption():
            cause = INTERRUPTION_CAUSES.optional(value.cause)
            return resources_pb2.Part(interruption=resources_pb2.Interruption(cause=cause))


def new_message(value: models.NewMessage) -> resources_pb2.NewMessage:
    """A message to be stored."""
    parts = [models.TextPart(value.content)] if isinstance(value.content, str) else value.content
    return resources_pb2.NewMessage(
        id=value.id,
        role=ROLES.number(value.role),
        author=value.author,
        session=value.session,
        time=timestamp(value.time),
        parts=[part(each) for each in parts],
    )


def message_ref(value: models.MessageRef) -> resources_pb2.MessageRef:
    """A reference to a message."""
    return resources_pb2.MessageRef(conversation_id=value.conversation_id, message_id=value.message_id)


def token(value: models.FreshnessToken) -> resources_pb2.FreshnessToken:
    """What a read waits for."""
    if isinstance(value, models.MessageToken):
        messages = resources_pb2.MessageMark(conversation_id=value.conversation_id, sequence=value.sequence)
        return resources_pb2.FreshnessToken(agent_id=value.agent_id, messages=messages)
    memory = resources_pb2.MemoryMark(memory_id=value.memory_id, version=value.version)
    return resources_pb2.FreshnessToken(agent_id=value.agent_id, memory=memory)


def tokens(values: Iterable[models.FreshnessToken | None]) -> list[resources_pb2.FreshnessToken]:
    """What a read waits for; None, the token of a write that changed nothing, is left out."""
    return [token(value) for value in values if value is not None]


def fusion(value: models.ReciprocalRank | None) -> recall_pb2.FusionStrategy | None:
    """How lists become one."""
    if value is None:
        return None
    weights = [
        recall_pb2.ChannelWeight(channel=CHANNELS.number(channel), weight=weight)
        for channel, weight in value.weights.items()
    ]
    return recall_pb2.FusionStrategy(reference=recall_pb2.ReferenceFusion(k=value.k, weights=weights))


def message_filter(
    roles: Sequence[models.Role],
    authors: Sequence[str],
    start_time: datetime | None,
    end_time: datetime | None,
) -> recall_pb2.MessageFilter | None:
    """Which messages; None when nothing is asked for."""
    if not (roles or authors or start_time or end_time):
        return None
    return recall_pb2.MessageFilter(
        roles=[ROLES.number(role) for role in roles],
        authors=authors,
        start_time=timestamp(start_time),
        end_time=timestamp(end_time),
    )
