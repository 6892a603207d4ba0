"""Jobs of the types "index_message" and "index_memory": the Semantic service does them (SPEC J-3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from palimpsest.semantic.v1 import semantic_pb2, semantic_pb2_grpc

from services.compactor.adapters.acting import as_service
from services.compactor.app.ports import Done, Failed, Outcome
from services.compactor.domain import payloads
from services.compactor.domain.ledger import Job
from services.kit.errors import DependencyDown, Reason

INDEX_MESSAGE = "index_message"
INDEX_MEMORY = "index_memory"
BAD_PAYLOAD = f"{Reason.INVALID_FIELD}: the payload does not name what is to be indexed"
NO_REASON = f"{Reason.INTERNAL}: the item was not indexed"

ToItem = Callable[[dict[str, object]], semantic_pb2.IndexItem]


def message_item(payload: dict[str, object]) -> semantic_pb2.IndexItem:
    """From {"conversation_id", "sequence"}; raises ValueError."""
    conversation_id, sequence = payload.get("conversation_id"), payload.get("sequence")
    if not (isinstance(conversation_id, str) and conversation_id):
        raise ValueError("conversation_id")
    if not isinstance(sequence, int) or isinstance(sequence, bool) or sequence < 1:
        raise ValueError("sequence")
    return semantic_pb2.IndexItem(
        message=semantic_pb2.MessageItem(conversation_id=conversation_id, sequence=sequence)
    )


def memory_item(payload: dict[str, object]) -> semantic_pb2.IndexItem:
    """From {"memory_id"}; raises ValueError."""
    memory_id = payload.get("memory_id")
    if not (isinstance(memory_id, str) and memory_id):
        raise ValueError("memory_id")
    return semantic_pb2.IndexItem(memory=semantic_pb2.MemoryItem(memory_id=memory_id))


class IndexHandler:
    """Hands a batch to Semantic.Index, as the agent that it belongs to."""

    def __init__(self, semantic: semantic_pb2_grpc.SemanticServiceAsyncStub, to_item: ToItem) -> None:
        self._semantic = semantic
        self._to_item = to_item

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler. Raises DependencyDown also when that is what became of every item."""
        items = [self._item(job) for job in jobs]
        readable = [item for item in items if item is not None]
        outcomes = iter(await self._index(tenant, agent_id, readable) if readable else ())
        bad = Failed(error=BAD_PAYLOAD, hopeless=True)
        return [bad if item is None else _outcome(next(outcomes)) for item in items]

    def _item(self, job: Job) -> semantic_pb2.IndexItem | None:
        try:
            return self._to_item(payloads.said(job.payload))
        except ValueError:
            return None

    async def _index(
        self, tenant: str, agent_id: str, items: Sequence[semantic_pb2.IndexItem]
    ) -> Sequence[semantic_pb2.IndexOutcome]:
        with as_service(tenant, agent_id):
            response = await self._semantic.Index(semantic_pb2.IndexRequest(agent_id=agent_id, items=items))
        if len(response.outcomes) != len(items):
            raise ValueError("Index answered for another number of items")
        if all(not o.ok and o.error.startswith(Reason.DEPENDENCY_DOWN) for o in response.outcomes):
            raise DependencyDown
        return response.outcomes


def _outcome(outcome: semantic_pb2.IndexOutcome) -> Outcome:
    return Done() if outcome.ok else Failed(error=outcome.error or NO_REASON)
