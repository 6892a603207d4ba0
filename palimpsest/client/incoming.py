"""Messages of the protos as values of the client."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.timestamp_pb2 import Timestamp

from palimpsest import models
from palimpsest.client import names
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2, prompt_pb2


def time_of(holder: ProtoMessage, field: str) -> datetime | None:
    """A time in UTC; None where it is not set."""
    if not holder.HasField(field):
        return None
    value: Timestamp = getattr(holder, field)
    return value.ToDatetime(tzinfo=UTC)


def agent(proto: resources_pb2.Agent) -> models.Agent:
    """An agent."""
    return models.Agent(
        id=proto.id,
        display_name=proto.display_name,
        system_prompt=proto.system_prompt,
        create_time=time_of(proto, "create_time"),
    )


def contact(proto: resources_pb2.Contact) -> models.Contact:
    """A contact."""
    return models.Contact(
        id=proto.id,
        agent_id=proto.agent_id,
        display_name=proto.display_name,
        identities=tuple(proto.identities),
        create_time=time_of(proto, "create_time"),
        merged_into=proto.merged_into,
        merged_ids=tuple(proto.merged_ids),
    )


def conversation(proto: resources_pb2.Conversation) -> models.Conversation:
    """A conversation."""
    return models.Conversation(
        id=proto.id,
        agent_id=proto.agent_id,
        contact_id=proto.contact_id,
        title=proto.title,
        create_time=time_of(proto, "create_time"),
        update_time=time_of(proto, "update_time"),
        stored_count=proto.stored_count,
        indexed_count=proto.indexed_count,
        leaf_id=proto.leaf_id,
        authors=tuple(proto.authors),
        depth=proto.depth,
        covered_count=proto.covered_count,
        forked_from=_ref(proto.forked_from) if proto.HasField("forked_from") else None,
    )


def tool_call(proto: resources_pb2.ToolCall) -> models.ToolCall:
    """A call of a tool."""
    return models.ToolCall(call_id=proto.call_id, name=proto.name, arguments=MessageToDict(proto.arguments))


def _parts(protos: Iterable[resources_pb2.Part]) -> tuple[models.Part, ...]:
    """The parts; one of a kind that is newer than this client is left out."""
    return tuple(made for proto in protos if (made := _part(proto)) is not None)


def _part(proto: resources_pb2.Part) -> models.Part | None:
    match proto.WhichOneof("kind"):
        case "text":
            return models.TextPart(proto.text)
        case "tool_call":
            return tool_call(proto.tool_call)
        case "tool_result":
            result = proto.tool_result
            return models.ToolResult(call_id=result.call_id, content=result.content, is_error=result.is_error)
        case "attachment":
            file = proto.attachment
            return models.Attachment(uri=file.uri, media_type=file.media_type, caption=file.caption)
        case "interruption":
            return interruption(proto.interruption)
    return None


def interruption(proto: resources_pb2.Interruption) -> models.Interruption:
    """That a message broke off."""
    return models.Interruption(cause=names.INTERRUPTION_CAUSES.name(proto.cause) or None)


def message(proto: resources_pb2.Message) -> models.Message:
    """A stored message."""
    return models.Message(
        id=proto.id,
        conversation_id=proto.conversation_id,
        sequence=proto.sequence,
        parent_id=proto.parent_id,
        role=names.ROLES.name(proto.role),
        author=proto.author,
        session=proto.session,
        time=time_of(proto, "time"),
        create_time=time_of(proto, "create_time"),
        parts=_parts(proto.parts),
        token_count=proto.token_count,
        depth=proto.depth,
    )


def _ref(proto: resources_pb2.MessageRef) -> models.MessageRef:
    return models.MessageRef(conversation_id=proto.conversation_id, message_id=proto.message_id)


def refs(protos: Iterable[resources_pb2.MessageRef]) -> tuple[models.MessageRef, ...]:
    """Which messages."""
    return tuple(map(_ref, protos))


def token(holder: ProtoMessage) -> models.FreshnessToken | None:
    """The freshness token that a message holds; None for none, and for a kind newer than this client."""
    if not holder.HasField("token"):
        return None
    proto: resources_pb2.FreshnessToken = holder.token  # type: ignore[attr-defined]
    if proto.HasField("messages"):
        mark = proto.messages
        return models.MessageToken(
            agent_id=proto.agent_id, conversation_id=mark.conversation_id, sequence=mark.sequence
        )
    if proto.HasField("memory"):
        memory_mark = proto.memory
        return models.MemoryToken(
            agent_id=proto.agent_id, memory_id=memory_mark.memory_id, version=memory_mark.version
        )
    return None


def _stored(protos: Iterable[conversations_pb2.StoredMessage]) -> tuple[models.StoredMessage, ...]:
    return tuple(
        models.StoredMessage(message_id=proto.message_id, sequence=proto.sequence, created=proto.created)
        for proto in protos
    )


def recorded_turn(proto: conversations_pb2.RecordTurnResponse) -> models.RecordedTurn:
    """What became of a turn."""
    return models.RecordedTurn(messages=_stored(proto.messages), token=token(proto))


def ingest_ack(conversation_id: str, proto: conversations_pb2.IngestResponse) -> models.IngestAck:
    """What became of a chunk."""
    return models.IngestAck(
        conversation_id=conversation_id,
        messages=_stored(proto.messages),
        created_count=proto.created_count,
        token=token(proto),
    )


def memory(proto: resources_pb2.Memory) -> models.Memory:
    """A memory."""
    return models.Memory(
        id=proto.id,
        key=proto.key,
        value=proto.value,
        fact_type=names.FACT_TYPES.name(proto.fact_type),
        kind=names.KINDS.name(proto.kind),
        contact_id=proto.contact_id,
        pinned=proto.pinned,
        confidence=proto.confidence,
        source=names.SOURCES.name(proto.source),
        provenance=refs(proto.provenance),
        create_time=time_of(proto, "create_time"),
        update_time=time_of(proto, "update_time"),
        access_time=time_of(proto, "access_time"),
        access_count=proto.access_count,
        valid_from_time=time_of(proto, "valid_from_time"),
        valid_to_time=time_of(proto, "valid_to_time"),
        superseded_by=proto.superseded_by,
        supersedes=proto.supersedes,
        version=proto.version,
        expire_time=time_of(proto, "expire_time"),
        indexed=proto.indexed,
        verification=names.VERIFICATIONS.name(proto.verification),
        contradicts=tuple(proto.contradicts),
        revision=proto.revision,
    )


def remembered(proto: memories_pb2.RememberResponse) -> models.Remembered:
    """What became of a memory."""
    return models.Remembered(memory=memory(proto.memory), created=proto.created, token=token(proto))


def memory_history(proto: memories_pb2.ListMemoryVersionsResponse) -> models.MemoryHistory:
    """Versions, and what replaced them."""
    return models.MemoryHistory(
        memories=tuple(memory(each) for each in proto.memories),
        supersessions=tuple(_supersession(each) for each in proto.supersessions),
    )


def _supersession(proto: resources_pb2.Supersession) -> models.Supersession:
    return models.Supersession(
        old_memory_id=proto.old_memory_id,
        new_memory_id=proto.new_memory_id,
        cause=names.CAUSES.name(proto.cause),
        probability=proto.probability,
        judge=proto.judge,
        create_time=time_of(proto, "create_time"),
        undo_time=time_of(proto, "undo_time"),
    )


def restored(proto: memories_pb2.UndoSupersessionResponse) -> models.Restored:
    """A memory that was brought back."""
    return models.Restored(memory=memory(proto.memory), token=token(proto))


def contradiction(proto: resources_pb2.Contradiction) -> models.Contradiction:
    """Two memories that cannot both hold."""
    return models.Contradiction(
        id=proto.id,
        memories=tuple(memory(each) for each in proto.memories),
        probability=proto.probability,
        judge=proto.judge,
        create_time=time_of(proto, "create_time"),
    )


def explanation(proto: recall_pb2.Explanation) -> models.Explanation:
    """Why a hit stands where it does."""
    return models.Explanation(
        score=proto.score,
        channels=tuple(
            models.ChannelRank(
                channel=names.CHANNELS.name(rank.channel),
                rank=rank.rank,
                score=rank.score,
                contribution=rank.contribution,
            )
            for rank in proto.channels
        ),
        signals=tuple(
            models.Signal(name=signal.name, contribution=signal.contribution) for signal in proto.signals
        ),
    )


def failures(protos: Iterable[recall_pb2.ChannelFailure]) -> tuple[models.ChannelFailure, ...]:
    """What was missing."""
    return tuple(
        models.ChannelFailure(channel=names.CHANNELS.name(proto.channel), cause=proto.cause)
        for proto in protos
    )


def unindexed(protos: Iterable[resources_pb2.Unindexed]) -> tuple[models.Unindexed, ...]:
    """What was waited for, and is not indexed."""
    return tuple(
        models.Unindexed(
            token=token(proto), state=names.UNINDEXED.name(proto.state), job_ids=tuple(proto.job_ids)
        )
        for proto in protos
    )


def recalled_memories(proto: memories_pb2.RecallResponse) -> models.RecalledMemories:
    """Memories that recall found."""
    return models.RecalledMemories(
        hits=tuple(
            models.MemoryHit(
                memory=memory(hit.memory), explanation=explanation(hit.explanation), filled=hit.filled
            )
            for hit in proto.hits
        ),
        failures=failures(proto.failures),
        unindexed=unindexed(proto.unindexed),
    )


def recalled_messages(proto: memories_pb2.RecallConversationResponse) -> models.RecalledMessages:
    """Messages that recall found."""
    return models.RecalledMessages(
        hits=tuple(
            models.MessageHit(
                message=message(hit.message),
                explanation=explanation(hit.explanation),
                before=tuple(message(each) for each in hit.before),
                after=tuple(message(each) for each in hit.after),
            )
            for hit in proto.hits
        ),
        failures=failures(proto.failures),
        unindexed=unindexed(proto.unindexed),
    )


def _prompt_messages(protos: Iterable[prompt_pb2.PromptMessage]) -> tuple[models.PromptMessage, ...]:
    return tuple(
        models.PromptMessage(role=names.ROLES.name(proto.role), content=proto.content) for proto in protos
    )


def prompt(proto: prompt_pb2.AssemblePromptResponse) -> models.Prompt:
    """An assembled prompt."""
    return models.Prompt(
        layers=tuple(
            models.Layer(
                kind=names.LAYERS.name(layer.kind),
                text=layer.text,
                token_count=layer.token_count,
                budget_tokens=layer.budget_tokens,
                memory_ids=tuple(layer.memory_ids),
                messages=refs(layer.messages),
                omitted_count=layer.omitted_count,
                overlay_ids=tuple(layer.overlay_ids),
                working=_working(layer.working) if layer.HasField("working") else None,
                documents=tuple(map(_document_source, layer.documents)),
                attractor_version=layer.attractor_version,
                summary_version=layer.summary_version,
            )
            for layer in proto.layers
        ),
        text=proto.text,
        openai_messages=_prompt_messages(proto.openai_messages),
        anthropic_system=proto.anthropic_system,
        anthropic_messages=_prompt_messages(proto.anthropic_messages),
        token_count=proto.token_count,
        budget_tokens=proto.budget_tokens,
        failures=failures(proto.failures),
        unindexed=unindexed(proto.unindexed),
        system_prompt_revision=proto.system_prompt_revision,
        exact_tokens=proto.exact_tokens,
    )


def _document_source(proto: prompt_pb2.DocumentSource) -> models.DocumentSource:
    return models.DocumentSource(
        type=names.DOCUMENT_TYPES.name(proto.type),
        document_id=proto.document_id,
        version=proto.version,
        title=proto.title,
    )


def _working(proto: prompt_pb2.WorkingSources) -> models.WorkingSources:
    return models.WorkingSources(
        notes_version=proto.notes_version,
        task=proto.task,
        turn_id=proto.turn_id,
        result_count=proto.result_count,
        entries=tuple(proto.entries),
    )
