"""Between the semantic service's messages and its domain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.search.v1 import search_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from services.kit import paging
from services.kit.errors import InvalidField, NotAllowed
from services.kit.identity import Role
from services.kit.policy import EffectiveSettings, FusionKind
from services.kit.times import from_timestamp, to_timestamp
from services.memory.semantic.app.indexing import Item, MemoryItem, MessageItem
from services.memory.semantic.app.ports import (
    ContradictionQuery,
    MemoryHistory,
    MemoryQuery,
    Remembered,
    Supersession,
)
from services.memory.semantic.app.recall import MemoryHit, MessageHit
from services.memory.semantic.app.syncing import SyncOutcome
from services.memory.semantic.app.waiting import MemoryMark, MessageMark, Unindexed
from services.memory.semantic.domain.documents import DocumentSource, DocumentType
from services.memory.semantic.domain.fusion import REFERENCE_WEIGHTS, Default, Hit, Reference, Strategy
from services.memory.semantic.domain.items import MessageScope, Progress
from services.memory.semantic.domain.memory import (
    Contradiction,
    FactType,
    Kind,
    Memory,
    MessageRef,
    NewMemory,
    Scope,
    Source,
)

DEFAULT_LIMIT = 10
CHANNELS = {
    "vector": recall_pb2.CHANNEL_VECTOR,
    "keyword": recall_pb2.CHANNEL_KEYWORD,
    "key": recall_pb2.CHANNEL_KEY,
    "messages": recall_pb2.CHANNEL_MESSAGES,
    "hyde": recall_pb2.CHANNEL_HYDE,
    "remote": recall_pb2.CHANNEL_REMOTE,
}
CHANNEL_NAMES = {number: name for name, number in CHANNELS.items()}


def scope(message: pb.Scope) -> Scope:
    """Field by field."""
    return Scope(agent_id=message.agent_id, contact_ids=tuple(dict.fromkeys(message.contact_ids)))


_SOURCES_OF_SERVICES = {
    resources_pb2.MEMORY_SOURCE_TURN: Source.TURN,
    resources_pb2.MEMORY_SOURCE_PRE_COMPACTION: Source.PRE_COMPACTION,
    resources_pb2.MEMORY_SOURCE_REFLECTION: Source.REFLECTION,
}


def _source(request: pb.RememberRequest, role: Role) -> Source:
    """The write path sets the source (S-4): only a service names one. Raises InvalidField, NotAllowed."""
    if not request.source:
        return Source.EXPLICIT
    if role is not Role.SERVICE:
        raise NotAllowed("only a service names the source of a memory")
    if request.source not in _SOURCES_OF_SERVICES:
        raise InvalidField("source", "is not one that a service writes")
    return _SOURCES_OF_SERVICES[request.source]


def new_memory(request: pb.RememberRequest, role: Role) -> NewMemory:
    """By a caller of this role."""
    return NewMemory(
        scope=scope(request.scope),
        key=request.key,
        value=request.value,
        fact_type=FactType(request.fact_type or FactType.FACT),
        pinned=request.pinned,
        source=_source(request, role),
        provenance=tuple(
            MessageRef(conversation_id=ref.conversation_id, message_id=ref.message_id)
            for ref in request.provenance
        ),
        valid_from=_time(request.valid_from_time, "valid_from_time")
        if request.HasField("valid_from_time")
        else None,
        valid_to=_time(request.valid_to_time, "valid_to_time") if request.HasField("valid_to_time") else None,
        request_id=request.request_id,
    )


def reference_time(request: pb.RecallMessagesRequest) -> datetime | None:
    """When the question is asked; None: now."""
    return _time(request.reference_time, "reference_time") if request.HasField("reference_time") else None


def as_of_time(request: pb.GetMemoryByKeyRequest | pb.RecallMemoriesRequest) -> datetime | None:
    """The moment that is asked about; None: the present."""
    return _time(request.as_of_time, "as_of_time") if request.HasField("as_of_time") else None


def _time(stamp: Timestamp, field: str) -> datetime:
    try:
        return from_timestamp(stamp)
    except ValueError as error:
        raise InvalidField(field, str(error)) from error


def memory(value: Memory) -> resources_pb2.Memory:
    """Field by field."""
    return resources_pb2.Memory(
        id=value.id,
        key=value.key,
        value=value.value,
        fact_type=int(value.fact_type),  # type: ignore[arg-type]
        kind=int(value.kind),  # type: ignore[arg-type]
        contact_id=value.contact_id,
        pinned=value.pinned,
        confidence=value.confidence,
        source=int(value.source),  # type: ignore[arg-type]
        provenance=[
            resources_pb2.MessageRef(conversation_id=ref.conversation_id, message_id=ref.message_id)
            for ref in value.provenance
        ],
        create_time=to_timestamp(value.created),
        update_time=to_timestamp(value.updated),
        access_time=to_timestamp(value.accessed),
        access_count=value.access_count,
        valid_from_time=to_timestamp(value.valid_from),
        valid_to_time=to_timestamp(value.valid_to),
        superseded_by=value.superseded_by,
        supersedes=value.supersedes,
        version=value.version,
        expire_time=to_timestamp(value.expires),
        indexed=value.indexed,
        verification=int(value.verification),  # type: ignore[arg-type]
        contradicts=value.contradicts,
        revision=value.edits,
    )


def remembered(result: Remembered) -> pb.RememberResponse:
    """With the token of what was written."""
    return pb.RememberResponse(
        memory=memory(result.memory), created=result.created, token=token(result.memory)
    )


def token(value: Memory) -> resources_pb2.FreshnessToken:
    """Satisfied once the indexes know the memory's present state."""
    return resources_pb2.FreshnessToken(
        agent_id=value.agent_id,
        memory=resources_pb2.MemoryMark(memory_id=value.id, version=value.version),
    )


def history(found: MemoryHistory) -> pb.ListMemoryVersionsResponse:
    """Field by field."""
    return pb.ListMemoryVersionsResponse(
        memories=[memory(one) for one in found.memories],
        supersessions=[supersession(one) for one in found.supersessions],
    )


def supersession(value: Supersession) -> resources_pb2.Supersession:
    """Field by field."""
    return resources_pb2.Supersession(
        old_memory_id=value.old_id,
        new_memory_id=value.new_id,
        cause=int(value.cause),  # type: ignore[arg-type]
        probability=value.probability,
        judge=value.judge,
        create_time=to_timestamp(value.created),
        undo_time=to_timestamp(value.undone),
    )


def undone(value: Memory) -> pb.UndoSupersessionResponse:
    """With the token of what is live again."""
    return pb.UndoSupersessionResponse(memory=memory(value), token=token(value))


def contradiction(value: Contradiction) -> resources_pb2.Contradiction:
    """Field by field."""
    return resources_pb2.Contradiction(
        id=value.id,
        memories=[memory(one) for one in value.memories],
        probability=value.probability,
        judge=value.judge,
        create_time=to_timestamp(value.created),
    )


def contradiction_listing(request: pb.ListContradictionsRequest) -> str:
    """Names a listing with its scope, for its page tokens."""
    return f"ListContradictions:{request.scope.SerializeToString(deterministic=True).hex()}"


def contradiction_query(request: pb.ListContradictionsRequest) -> ContradictionQuery:
    """With the position of the page token."""
    position = paging.decode(contradiction_listing(request), request.page_token)
    return ContradictionQuery(
        scope=scope(request.scope),
        after=str(position[0]) if position else "",
        limit=paging.page_size(request.page_size) + 1,
    )


def contradiction_page(
    request: pb.ListContradictionsRequest, found: Sequence[Contradiction]
) -> pb.ListContradictionsResponse:
    """One more than the page holds says that there is a next one."""
    size = paging.page_size(request.page_size)
    more = len(found) > size
    position = paging.encode(contradiction_listing(request), (found[size - 1].id,)) if more else ""
    return pb.ListContradictionsResponse(
        contradictions=[contradiction(one) for one in found[:size]], next_page_token=position
    )


def kinds(values: Sequence[int]) -> frozenset[Kind]:
    """Empty means any."""
    return frozenset(Kind(value) for value in values)


def listing(request: pb.ListMemoriesRequest) -> str:
    """Names a listing with its filters, for its page tokens."""
    where = request.scope.SerializeToString(deterministic=True).hex()
    return f"ListMemories:{where}:{request.filter.SerializeToString(deterministic=True).hex()}"


def memory_query(request: pb.ListMemoriesRequest) -> MemoryQuery:
    """With the position of the page token."""
    position = paging.decode(listing(request), request.page_token)
    return MemoryQuery(
        scope=scope(request.scope),
        kinds=kinds(request.filter.kinds),
        key_prefix=request.filter.key_prefix,
        include_superseded=request.filter.include_superseded,
        as_of=_time(request.filter.as_of_time, "filter.as_of_time")
        if request.filter.HasField("as_of_time")
        else None,
        after=int(position[0]) if position else 0,
        limit=paging.page_size(request.page_size) + 1,
    )


def memory_page(
    request: pb.ListMemoriesRequest, rows: Sequence[tuple[int, Memory]]
) -> pb.ListMemoriesResponse:
    """One more row than the page holds says that there is a next one."""
    size = paging.page_size(request.page_size)
    token = paging.encode(listing(request), (rows[size - 1][0],)) if len(rows) > size else ""
    return pb.ListMemoriesResponse(memories=[memory(row) for _, row in rows[:size]], next_page_token=token)


def strategy(message: recall_pb2.FusionStrategy) -> Strategy:
    """The measured default unless the reference is asked for."""
    if message.WhichOneof("strategy") != "reference":
        return Default()
    weights = dict(REFERENCE_WEIGHTS) | {
        CHANNEL_NAMES[w.channel]: w.weight for w in message.reference.weights
    }
    if message.reference.HasField("k"):
        return Reference(k=message.reference.k, weights=weights)
    return Reference(weights=weights)


def chosen(
    request: pb.RecallMemoriesRequest | pb.RecallMessagesRequest | search_pb2.SearchDocumentsRequest,
    settings: EffectiveSettings,
) -> Strategy:
    """The request's strategy, else the agent's (G-12), else the measured default."""
    choice = settings.fusion
    if choice is None or request.fusion.WhichOneof("strategy") is not None:
        return strategy(request.fusion)
    if choice.kind is FusionKind.ADAPTIVE:
        return Default()
    weights = dict(REFERENCE_WEIGHTS) | dict(choice.weights)
    return Reference(weights=weights) if choice.k is None else Reference(k=choice.k, weights=weights)


def sync_outcome(outcome: SyncOutcome) -> pb.SyncOutcome:
    """What became of one memory."""
    return pb.SyncOutcome(ok=not outcome.error, error=outcome.error, refused=outcome.refused)


def message_scope(request: pb.RecallMessagesRequest) -> MessageScope:
    """Where to search."""
    chosen = request.filter
    return MessageScope(
        contact_ids=tuple(dict.fromkeys(request.scope.contact_ids)),
        conversation_id=request.conversation_id,
        roles=frozenset(chosen.roles),
        authors=frozenset(chosen.authors),
        start=_time(chosen.start_time, "filter.start_time") if chosen.HasField("start_time") else None,
        end=_time(chosen.end_time, "filter.end_time") if chosen.HasField("end_time") else None,
    )


def explanation(hit: Hit) -> recall_pb2.Explanation:
    """Contributions as they count in the score, the confidence factor spread over them."""
    channels = [
        recall_pb2.ChannelRank(
            channel=CHANNELS[name],
            rank=at.rank,
            score=at.score,
            contribution=hit.contributions.get(name, 0.0) * hit.confidence_factor,
        )
        for name, at in hit.channels.items()
    ]
    signals = [
        recall_pb2.Signal(name=name, contribution=amount * hit.confidence_factor)
        for name, amount in hit.contributions.items()
        if name not in hit.channels
    ]
    return recall_pb2.Explanation(score=hit.score, channels=channels, signals=signals)


def memory_hit(found: MemoryHit) -> recall_pb2.MemoryHit:
    """A filled place has no explanation."""
    if found.hit is None:
        return recall_pb2.MemoryHit(memory=memory(found.memory), filled=True)
    return recall_pb2.MemoryHit(memory=memory(found.memory), explanation=explanation(found.hit))


def message_match(found: MessageHit) -> recall_pb2.MessageMatch:
    """By reference."""
    ref = resources_pb2.MessageRef(
        conversation_id=found.message.conversation_id, message_id=found.message.message_id
    )
    return recall_pb2.MessageMatch(
        ref=ref, sequence=found.message.sequence, explanation=explanation(found.hit)
    )


def failures(causes: dict[str, str]) -> list[recall_pb2.ChannelFailure]:
    """Channels that failed."""
    return [recall_pb2.ChannelFailure(channel=CHANNELS[name], cause=cause) for name, cause in causes.items()]


def marks(tokens: Sequence[resources_pb2.FreshnessToken]) -> list[tuple[str, MessageMark | MemoryMark]]:
    """What to wait for, with its agent."""
    made: list[tuple[str, MessageMark | MemoryMark]] = []
    for token in tokens:
        if token.WhichOneof("mark") == "messages":
            mark: MessageMark | MemoryMark = MessageMark(
                conversation_id=token.messages.conversation_id, sequence=token.messages.sequence
            )
        else:
            mark = MemoryMark(memory_id=token.memory.memory_id, version=token.memory.version)
        made.append((token.agent_id, mark))
    return made


def unindexed(outcome: Unindexed) -> resources_pb2.Unindexed:
    """Why a token is not satisfied."""
    token = resources_pb2.FreshnessToken(agent_id=outcome.agent_id)
    if isinstance(outcome.mark, MessageMark):
        token.messages.conversation_id = outcome.mark.conversation_id
        token.messages.sequence = outcome.mark.sequence
    else:
        token.memory.memory_id, token.memory.version = outcome.mark.memory_id, outcome.mark.version
    state = resources_pb2.UNINDEXED_STATE_DEAD if outcome.dead else resources_pb2.UNINDEXED_STATE_PENDING
    return resources_pb2.Unindexed(token=token, state=state, job_ids=outcome.job_ids)


def item(message: pb.IndexItem) -> Item:
    """A message, a memory, or a source of documents."""
    if message.WhichOneof("item") == "document":
        return DocumentSource(type=DocumentType(message.document.type), subject=message.document.subject)
    if message.WhichOneof("item") == "message":
        return MessageItem(conversation_id=message.message.conversation_id, sequence=message.message.sequence)
    return MemoryItem(memory_id=message.memory.memory_id)


def outcome(error: str) -> pb.IndexOutcome:
    """ "" is success."""
    return pb.IndexOutcome(ok=not error, error=error)


def progress(conversation_id: str, known: Progress | None) -> pb.IndexProgress:
    """An unknown conversation has nothing indexed."""
    if known is None:
        return pb.IndexProgress(conversation_id=conversation_id)
    return pb.IndexProgress(
        conversation_id=conversation_id, indexed_count=known.count, indexed_sequence=known.sequence
    )
