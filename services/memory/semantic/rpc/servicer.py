"""SemanticService on the wire."""

from __future__ import annotations

from typing import Any

from palimpsest.common.v1 import recall_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb
from palimpsest.semantic.v1 import semantic_pb2_grpc

from services.kit.context import current_principal
from services.kit.policy import Policies
from services.memory.semantic.app.following import Indexing
from services.memory.semantic.app.generations import Generations
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.judgements import Judgements
from services.memory.semantic.app.memories import Memories
from services.memory.semantic.app.recall import Recall
from services.memory.semantic.app.reindexing import Reindexer
from services.memory.semantic.app.syncing import Syncs
from services.memory.semantic.app.waiting import Waiter
from services.memory.semantic.rpc import convert
from services.memory.semantic.rpc.index_calls import IndexCalls

DEFAULT_STANDING = 20  # S-10

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["SemanticService"]


class SemanticServicer(IndexCalls, semantic_pb2_grpc.SemanticServiceServicer):
    """Converts, calls, converts back."""

    def __init__(
        self,
        *,
        reindexer: Reindexer,
        generations: Generations,
        memories: Memories,
        judgements: Judgements,
        recall: Recall,
        indexer: Indexing,
        waiter: Waiter,
        items: ItemIndex,
        syncing: Syncs,
        policies: Policies,
    ) -> None:
        super().__init__(reindexer=reindexer, generations=generations)
        self._memories = memories
        self._judgements = judgements
        self._recall = recall
        self._indexer = indexer
        self._waiter = waiter
        self._items = items
        self._syncing = syncing
        self._policies = policies

    async def Remember(self, request: pb.RememberRequest, context: Any) -> pb.RememberResponse:
        """See the proto."""
        caller = current_principal()
        new = convert.new_memory(request, caller.role)
        result = await self._memories.remember(caller.tenant, new)
        return convert.remembered(result)

    async def GetMemory(self, request: pb.GetMemoryRequest, context: Any) -> pb.GetMemoryResponse:
        """See the proto."""
        found = await self._memories.get(current_principal().tenant, request.agent_id, request.memory_id)
        return pb.GetMemoryResponse(memory=convert.memory(found))

    async def GetMemoryByKey(
        self, request: pb.GetMemoryByKeyRequest, context: Any
    ) -> pb.GetMemoryByKeyResponse:
        """See the proto."""
        found = await self._memories.by_key(
            current_principal().tenant,
            convert.scope(request.scope),
            request.key,
            as_of=convert.as_of_time(request),
        )
        return pb.GetMemoryByKeyResponse(memory=convert.memory(found))

    async def ListMemories(self, request: pb.ListMemoriesRequest, context: Any) -> pb.ListMemoriesResponse:
        """See the proto."""
        rows = await self._memories.page(current_principal().tenant, convert.memory_query(request))
        return convert.memory_page(request, rows)

    async def UpdateMemory(self, request: pb.UpdateMemoryRequest, context: Any) -> pb.UpdateMemoryResponse:
        """See the proto."""
        updated = await self._memories.update(
            current_principal().tenant,
            request.agent_id,
            request.memory.id,
            pinned=request.memory.pinned,
            paths=list(request.update_mask.paths),
            expected_edits=request.expected_revision or None,
        )
        return pb.UpdateMemoryResponse(memory=convert.memory(updated))

    async def ForgetMemory(self, request: pb.ForgetMemoryRequest, context: Any) -> pb.ForgetMemoryResponse:
        """See the proto."""
        count = await self._memories.forget(current_principal().tenant, request.agent_id, request.memory_id)
        return pb.ForgetMemoryResponse(deleted_count=count)

    async def ListMemoryVersions(
        self, request: pb.ListMemoryVersionsRequest, context: Any
    ) -> pb.ListMemoryVersionsResponse:
        """See the proto."""
        found = await self._memories.history(current_principal().tenant, request.agent_id, request.memory_id)
        return convert.history(found)

    async def UndoSupersession(
        self, request: pb.UndoSupersessionRequest, context: Any
    ) -> pb.UndoSupersessionResponse:
        """See the proto."""
        restored = await self._judgements.undo_supersession(
            current_principal().tenant, request.agent_id, request.memory_id
        )
        return convert.undone(restored)

    async def ListContradictions(
        self, request: pb.ListContradictionsRequest, context: Any
    ) -> pb.ListContradictionsResponse:
        """See the proto."""
        found = await self._judgements.contradictions(
            current_principal().tenant, convert.contradiction_query(request)
        )
        return convert.contradiction_page(request, found)

    async def ResolveContradiction(
        self, request: pb.ResolveContradictionRequest, context: Any
    ) -> pb.ResolveContradictionResponse:
        """See the proto."""
        resolved = await self._judgements.resolve(
            current_principal().tenant, request.agent_id, request.contradiction_id, request.kept_memory_id
        )
        return pb.ResolveContradictionResponse(memories=[convert.memory(one) for one in resolved.memories])

    async def RecallMemories(
        self, request: pb.RecallMemoriesRequest, context: Any
    ) -> pb.RecallMemoriesResponse:
        """See the proto."""
        tenant = current_principal().tenant
        settings, as_of = await self._policies.of(tenant, request.scope.agent_id), convert.as_of_time(request)
        waited = await self._waiter.wait(tenant, convert.marks(request.wait_for), past=as_of is not None)
        hits, failures = await self._recall.memories(
            tenant,
            convert.scope(request.scope),
            request.query,
            limit=request.limit or convert.DEFAULT_LIMIT,
            kinds=convert.kinds(request.kinds),
            strategy=convert.chosen(request, settings),
            depth=settings.recall_depth,
            fill=request.fill,
            as_of=as_of,
        )
        return pb.RecallMemoriesResponse(
            hits=[convert.memory_hit(hit) for hit in hits],
            failures=convert.failures(failures),
            unindexed=[convert.unindexed(outcome) for outcome in waited],
        )

    async def RecallMessages(
        self, request: pb.RecallMessagesRequest, context: Any
    ) -> pb.RecallMessagesResponse:
        """See the proto."""
        tenant = current_principal().tenant
        settings = await self._policies.of(tenant, request.scope.agent_id)
        waited = await self._waiter.wait(tenant, convert.marks(request.wait_for))
        hits, failures = await self._recall.messages(
            tenant,
            request.scope.agent_id,
            request.query,
            scope=convert.message_scope(request),
            limit=request.limit or convert.DEFAULT_LIMIT,
            semantic=request.mode != recall_pb2.SEARCH_MODE_KEYWORD,
            keyword=request.mode != recall_pb2.SEARCH_MODE_SEMANTIC,
            strategy=convert.chosen(request, settings),
            depth=settings.recall_depth,
            reference=convert.reference_time(request),
        )
        return pb.RecallMessagesResponse(
            matches=[convert.message_match(hit) for hit in hits],
            failures=convert.failures(failures),
            unindexed=[convert.unindexed(outcome) for outcome in waited],
        )

    async def SelectStandingMemories(
        self, request: pb.SelectStandingMemoriesRequest, context: Any
    ) -> pb.SelectStandingMemoriesResponse:
        """See the proto."""
        found = await self._memories.standing(
            current_principal().tenant, convert.scope(request.scope), request.limit or DEFAULT_STANDING
        )
        return pb.SelectStandingMemoriesResponse(memories=[convert.memory(memory) for memory in found])

    async def CountAccess(self, request: pb.CountAccessRequest, context: Any) -> pb.CountAccessResponse:
        """See the proto."""
        await self._memories.count_access(
            current_principal().tenant, request.agent_id, list(request.memory_ids)
        )
        return pb.CountAccessResponse()

    async def Index(self, request: pb.IndexRequest, context: Any) -> pb.IndexResponse:
        """See the proto."""
        errors = await self._indexer.index(
            current_principal().tenant, request.agent_id, [convert.item(item) for item in request.items]
        )
        return pb.IndexResponse(outcomes=[convert.outcome(error) for error in errors])

    async def SyncMemories(self, request: pb.SyncMemoriesRequest, context: Any) -> pb.SyncMemoriesResponse:
        """See the proto."""
        outcomes = await self._syncing.sync(
            current_principal().tenant, request.agent_id, list(request.memory_ids)
        )
        return pb.SyncMemoriesResponse(outcomes=[convert.sync_outcome(one) for one in outcomes])

    async def GetIndexProgress(
        self, request: pb.GetIndexProgressRequest, context: Any
    ) -> pb.GetIndexProgressResponse:
        """See the proto."""
        known = await self._items.progress(
            current_principal().tenant, request.agent_id, list(request.conversation_ids)
        )
        return pb.GetIndexProgressResponse(
            progress=[convert.progress(id_, known.get(id_)) for id_ in request.conversation_ids]
        )
