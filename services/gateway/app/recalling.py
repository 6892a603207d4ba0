"""Memories and recall, as the gateway composes them from Episodic and Semantic (SPEC S-5, S-12)."""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.common.v1 import resources_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.gateway.v1 import memories_pb2 as pb
from palimpsest.semantic.v1 import semantic_pb2

from services.gateway.app.backends import Backends
from services.kit.errors import InvalidField, NotFound
from services.kit.times import from_timestamp

DEFAULT_LIMIT = 10
MAX_LIMIT = 100


async def scope(backends: Backends, agent_id: str, contact_id: str) -> semantic_pb2.Scope:
    """The agent and the person's contact ids. Raises NotFound."""
    ids = await backends.contact_ids(agent_id, contact_id)
    return semantic_pb2.Scope(agent_id=agent_id, contact_ids=ids)


def check_tokens(agent_id: str, tokens: Iterable[resources_pb2.FreshnessToken]) -> None:
    """A read waits for its own agent only, lest a key learn of agents that it does not reach.

    Raises InvalidField.
    """
    for number, token in enumerate(tokens):
        if token.agent_id != agent_id:
            raise InvalidField(f"wait_for[{number}].agent_id", "must be the agent that is read")


async def remember(backends: Backends, request: pb.RememberRequest) -> pb.RememberResponse:
    """In the contact's bucket, if one is named. Raises NotFound for sources that do not exist."""
    where = await scope(backends, request.agent_id, request.contact_id)
    if request.provenance:
        asked = episodic_pb2.GetMessagesRequest(agent_id=request.agent_id, refs=request.provenance)
        missing = (await backends.episodic.GetMessages(asked)).missing
        if missing:
            raise NotFound("message", missing[0].message_id)
    response = await backends.semantic.Remember(
        semantic_pb2.RememberRequest(
            scope=where,
            key=request.key,
            value=request.value,
            fact_type=request.fact_type,
            pinned=request.pinned,
            provenance=request.provenance,
            valid_from_time=request.valid_from_time if request.HasField("valid_from_time") else None,
            valid_to_time=request.valid_to_time if request.HasField("valid_to_time") else None,
            request_id=request.request_id,
        )
    )
    return pb.RememberResponse(memory=response.memory, created=response.created, token=response.token)


async def memory_by_key(backends: Backends, request: pb.GetMemoryByKeyRequest) -> pb.GetMemoryByKeyResponse:
    """The contact's, else the agent-wide one."""
    where = await scope(backends, request.agent_id, request.contact_id)
    asked = semantic_pb2.GetMemoryByKeyRequest(scope=where, key=request.key, as_of_time=_as_of(request))
    return pb.GetMemoryByKeyResponse(memory=(await backends.semantic.GetMemoryByKey(asked)).memory)


async def list_memories(backends: Backends, request: pb.ListMemoriesRequest) -> pb.ListMemoriesResponse:
    """The agent-wide ones and the contact's."""
    response = await backends.semantic.ListMemories(
        semantic_pb2.ListMemoriesRequest(
            scope=await scope(backends, request.agent_id, request.contact_id),
            filter=semantic_pb2.MemoryFilter(
                kinds=request.kinds,
                key_prefix=request.key_prefix,
                include_superseded=request.include_superseded,
                as_of_time=_as_of(request),
            ),
            page_size=request.page_size,
            page_token=request.page_token,
        )
    )
    return pb.ListMemoriesResponse(memories=response.memories, next_page_token=response.next_page_token)


async def recall(backends: Backends, request: pb.RecallRequest) -> pb.RecallResponse:
    """Memories."""
    check_tokens(request.agent_id, request.wait_for)
    response = await backends.semantic.RecallMemories(
        semantic_pb2.RecallMemoriesRequest(
            scope=await scope(backends, request.agent_id, request.contact_id),
            query=request.query,
            limit=request.limit,
            kinds=request.kinds,
            fusion=request.fusion,
            fill=request.fill,
            wait_for=request.wait_for,
            as_of_time=_as_of(request),
        )
    )
    return pb.RecallResponse(hits=response.hits, failures=response.failures, unindexed=response.unindexed)


async def recall_conversation(
    backends: Backends, request: pb.RecallConversationRequest
) -> pb.RecallConversationResponse:
    """Messages, as exact originals, with neighbours on request."""
    check_tokens(request.agent_id, request.wait_for)
    where, conversation_id = await _search_place(backends, request)
    wanted = request.limit or DEFAULT_LIMIT
    limit = wanted
    while True:
        response = await backends.semantic.RecallMessages(
            semantic_pb2.RecallMessagesRequest(
                scope=where,
                conversation_id=conversation_id,
                query=request.query,
                mode=request.mode,
                limit=limit,
                filter=request.filter,
                fusion=request.fusion,
                wait_for=request.wait_for,
                reference_time=request.reference_time if request.HasField("reference_time") else None,
            )
        )
        hits = await _hits(backends, request, response)
        exhausted = len(response.matches) < limit or limit == MAX_LIMIT
        if len(hits) >= wanted or exhausted:
            break
        limit = min(MAX_LIMIT, limit * 4)  # those on no active path took the others' places
    return pb.RecallConversationResponse(
        hits=hits[:wanted], failures=response.failures, unindexed=response.unindexed
    )


def _as_of(
    request: pb.GetMemoryByKeyRequest | pb.ListMemoriesRequest | pb.RecallRequest,
) -> Timestamp | None:
    """The moment that is asked about, None for the present. Raises InvalidField by the name it has here."""
    if not request.HasField("as_of_time"):
        return None
    try:
        from_timestamp(request.as_of_time)
    except ValueError as error:
        raise InvalidField("as_of_time", str(error)) from error
    return request.as_of_time


async def _hits(
    backends: Backends, request: pb.RecallConversationRequest, response: semantic_pb2.RecallMessagesResponse
) -> list[pb.MessageHit]:
    if not response.matches:
        return []
    found = await backends.episodic.GetMessages(
        episodic_pb2.GetMessagesRequest(
            agent_id=request.agent_id,
            refs=[match.ref for match in response.matches],
            neighbours=request.neighbours,
        )
    )
    why = {(m.ref.conversation_id, m.ref.message_id): m.explanation for m in response.matches}
    return [
        pb.MessageHit(
            message=one.message,
            explanation=why[one.message.conversation_id, one.message.id],
            before=one.before,
            after=one.after,
        )
        for one in found.messages
        if one.active or request.include_inactive
    ]


async def _search_place(
    backends: Backends, request: pb.RecallConversationRequest
) -> tuple[semantic_pb2.Scope, str]:
    """The person's conversations (default), the conversation, or all of the agent's."""
    agent_id = request.agent_id
    if request.scope == pb.SEARCH_SCOPE_ALL:
        return await scope(backends, agent_id, ""), ""
    contact_id = request.contact_id
    if request.conversation_id:
        asked = episodic_pb2.GetConversationRequest(
            agent_id=agent_id, conversation_id=request.conversation_id
        )
        conversation = (await backends.episodic.GetConversation(asked)).conversation
        contact_id = contact_id or conversation.contact_id
    elif request.scope == pb.SEARCH_SCOPE_CONVERSATION or not contact_id:
        raise InvalidField("conversation_id", "required for this scope")
    if request.scope == pb.SEARCH_SCOPE_CONVERSATION or not contact_id:
        return semantic_pb2.Scope(agent_id=agent_id), request.conversation_id
    return await scope(backends, agent_id, contact_id), ""
