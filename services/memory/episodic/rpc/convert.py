"""Between the wire and the domain; converts, and refuses only what the domain cannot express."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from google.protobuf.struct_pb2 import ListValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.episodic.v1 import episodic_pb2

from services.kit.errors import InvalidField
from services.kit.times import from_timestamp, micros_to_timestamp, to_micros
from services.memory.episodic.domain.append import Outcome
from services.memory.episodic.domain.checks import check_text
from services.memory.episodic.domain.model import (
    Agent,
    Contact,
    Conversation,
    ConversationFilter,
    ConversationKey,
    Message,
    MessageFilter,
    MessageInContext,
    NewMessage,
    Role,
)
from services.memory.episodic.domain.parts import (
    Attachment,
    Interruption,
    InterruptionCause,
    Json,
    Part,
    Text,
    ToolCall,
    ToolResult,
)

NANOS = 1_000_000_000
EXACT_INTEGERS = 2.0**53


def key_of(tenant: str, request: Any) -> ConversationKey:
    """The conversation that a request names by agent_id and conversation_id. Raises InvalidField."""
    check_text("agent_id", request.agent_id)
    check_text("conversation_id", request.conversation_id)
    return ConversationKey(tenant=tenant, agent_id=request.agent_id, id=request.conversation_id)


def message_listing(request: episodic_pb2.ListMessagesRequest) -> str:
    """Names a listing of messages with all that its pages must have in common."""
    filters = request.filter.SerializeToString(deterministic=True).hex()
    order = "newest" if request.newest_first else "oldest"
    return f"ListMessages {request.agent_id} {request.conversation_id} {order} {filters}"


def micros(field: str, stamp: Timestamp) -> int:
    """Raises InvalidField for a time that no calendar of ours has."""
    if not 0 <= stamp.nanos < NANOS:
        raise InvalidField(field, "nanos must be 0 to 999,999,999")
    try:
        return to_micros(from_timestamp(stamp))
    except ValueError as error:
        raise InvalidField(field, "outside the years 1 to 9999") from error


def stamp_of(moment: int) -> Timestamp:
    """From microseconds."""
    return micros_to_timestamp(moment)


def new_messages(messages: Iterable[resources_pb2.NewMessage]) -> list[NewMessage]:
    """Raises InvalidField."""
    return [_new_message(f"messages[{index}]", message) for index, message in enumerate(messages)]


def _new_message(path: str, message: resources_pb2.NewMessage) -> NewMessage:
    return NewMessage(
        id=message.id,
        role=Role(message.role),
        author=message.author,
        session=message.session,
        time=micros(f"{path}.time", message.time) if message.HasField("time") else None,
        parts=tuple(_part(part) for part in message.parts),
    )


def _part(part: resources_pb2.Part) -> Part:
    match part.WhichOneof("kind"):
        case "tool_call":
            call = part.tool_call
            return ToolCall(call_id=call.call_id, name=call.name, arguments=plain_struct(call.arguments))
        case "tool_result":
            result = part.tool_result
            return ToolResult(call_id=result.call_id, content=result.content, is_error=result.is_error)
        case "attachment":
            file = part.attachment
            return Attachment(uri=file.uri, media_type=file.media_type, caption=file.caption)
        case "interruption":
            return Interruption(cause=InterruptionCause(part.interruption.cause))
        case _:
            return Text(text=part.text)


def plain_struct(struct: Struct) -> dict[str, Json]:
    """JSON as the domain keeps it; whole numbers as integers, as far as doubles hold them exactly."""
    return {key: _plain_value(value) for key, value in struct.fields.items()}


def _plain_value(value: Value) -> Json:
    match value.WhichOneof("kind"):
        case "struct_value":
            return plain_struct(value.struct_value)
        case "list_value":
            return [_plain_value(item) for item in value.list_value.values]
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() and abs(number) < EXACT_INTEGERS else number
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case _:
            return None


def _part_proto(part: Part) -> resources_pb2.Part:
    match part:
        case Text(text=text):
            return resources_pb2.Part(text=text)
        case ToolCall():
            call = resources_pb2.ToolCall(call_id=part.call_id, name=part.name)
            if part.arguments:
                call.arguments.CopyFrom(_value(part.arguments).struct_value)
            return resources_pb2.Part(tool_call=call)
        case ToolResult():
            result = resources_pb2.ToolResult(
                call_id=part.call_id, content=part.content, is_error=part.is_error
            )
            return resources_pb2.Part(tool_result=result)
        case Attachment():
            file = resources_pb2.Attachment(uri=part.uri, media_type=part.media_type, caption=part.caption)
            return resources_pb2.Part(attachment=file)
        case Interruption():
            cause = resources_pb2.InterruptionCause.ValueType(part.cause)
            return resources_pb2.Part(interruption=resources_pb2.Interruption(cause=cause))


def _value(value: Json) -> Value:
    match value:
        case None:
            return Value(null_value=0)  # type: ignore[arg-type]
        case bool():
            return Value(bool_value=value)
        case int() | float():
            return Value(number_value=value)
        case str():
            return Value(string_value=value)
        case dict():
            fields = {key: _value(inner) for key, inner in value.items()}
            return Value(struct_value=Struct(fields=fields))
        case _:
            assert isinstance(value, Sequence)
            return Value(list_value=ListValue(values=[_value(inner) for inner in value]))


def conversation_filter(request: episodic_pb2.ListConversationsRequest) -> ConversationFilter:
    """Raises InvalidField."""
    since = micros("changed_since", request.changed_since) if request.HasField("changed_since") else None
    return ConversationFilter(contact_id=request.contact_id, changed_since=since)


def message_filter(wanted: recall_pb2.MessageFilter) -> MessageFilter:
    """Raises InvalidField."""
    return MessageFilter(
        roles=frozenset(Role(role) for role in wanted.roles),
        authors=frozenset(wanted.authors),
        start=micros("filter.start_time", wanted.start_time) if wanted.HasField("start_time") else None,
        end=micros("filter.end_time", wanted.end_time) if wanted.HasField("end_time") else None,
    )


def agent_proto(agent: Agent) -> resources_pb2.Agent:
    """As on the wire."""
    return resources_pb2.Agent(
        id=agent.id,
        display_name=agent.display_name,
        system_prompt=agent.system_prompt,
        create_time=stamp_of(agent.create_time),
    )


def contact_proto(contact: Contact) -> resources_pb2.Contact:
    """As on the wire."""
    return resources_pb2.Contact(
        id=contact.id,
        agent_id=contact.agent_id,
        display_name=contact.display_name,
        identities=contact.identities,
        create_time=stamp_of(contact.create_time),
        merged_into=contact.merged_into,
        merged_ids=contact.merged_ids,
    )


def conversation_proto(conversation: Conversation) -> resources_pb2.Conversation:
    """As on the wire, without `indexed_count`."""
    return resources_pb2.Conversation(
        id=conversation.id,
        agent_id=conversation.agent_id,
        contact_id=conversation.contact_id,
        title=conversation.title,
        create_time=stamp_of(conversation.create_time),
        update_time=stamp_of(conversation.update_time),
        stored_count=conversation.stored_count,
        leaf_id=conversation.leaf_id,
        authors=conversation.authors,
        depth=conversation.leaf.depth,
        covered_count=conversation.covered_count,
        forked_from=_message_ref(conversation.forked_from),
    )


def _message_ref(name: tuple[str, str] | None) -> resources_pb2.MessageRef | None:
    return name and resources_pb2.MessageRef(conversation_id=name[0], message_id=name[1])


def message_proto(message: Message) -> resources_pb2.Message:
    """As on the wire."""
    return resources_pb2.Message(
        id=message.id,
        conversation_id=message.conversation_id,
        sequence=message.sequence,
        parent_id=message.parent_id,
        role=int(message.role),  # type: ignore[arg-type]
        author=message.author,
        session=message.session,
        time=stamp_of(message.time),
        create_time=stamp_of(message.create_time),
        parts=[_part_proto(part) for part in message.parts()],
        token_count=message.token_count,
        depth=message.depth,
    )


def append_response(key: ConversationKey, outcomes: Sequence[Outcome]) -> episodic_pb2.AppendMessagesResponse:
    """Results in order, and a token for the newest of them."""
    mark = resources_pb2.MessageMark(
        conversation_id=key.id, sequence=max(outcome.sequence for outcome in outcomes)
    )
    return episodic_pb2.AppendMessagesResponse(
        results=[
            episodic_pb2.AppendResult(
                message_id=outcome.message_id, sequence=outcome.sequence, created=outcome.created
            )
            for outcome in outcomes
        ],
        token=resources_pb2.FreshnessToken(agent_id=key.agent_id, messages=mark),
    )


def found_response(
    refs: Sequence[resources_pb2.MessageRef], found: Sequence[MessageInContext | None]
) -> episodic_pb2.GetMessagesResponse:
    """The messages found, and the references that were not."""
    return episodic_pb2.GetMessagesResponse(
        messages=[
            episodic_pb2.MessageInContext(
                message=message_proto(one.message),
                before=[message_proto(message) for message in one.before],
                after=[message_proto(message) for message in one.after],
                active=one.active,
            )
            for one in found
            if one is not None
        ],
        missing=[ref for ref, one in zip(refs, found, strict=True) if one is None],
    )
