"""Services behind the gateway that applications call too: the gateway only vouches for the caller.

One definition serves both, so each call is passed on as it came.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from functools import partial
from typing import Any, Final

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from palimpsest.derived.v1 import derived_pb2
from palimpsest.documents.v1 import documents_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.graph.v1 import graph_pb2
from palimpsest.history.v1 import history_pb2
from palimpsest.insight.v1 import insight_pb2
from palimpsest.search.v1 import search_pb2
from palimpsest.state.v1 import state_pb2
from palimpsest.working.v1 import working_pb2

from services.gateway.app.backends import Backends
from services.gateway.app.searching import search_documents
from services.gateway.app.watching import count_indexed, watch_conversation
from services.kit.errors import DeadlineExceeded, DependencyDown
from services.kit.serving import Face, roles_of

LISTS: Final = frozenset(
    {
        *("GetDerivedProgress", "ListReflections", "ListGoals", "ListLearnings", "ListConsolidationRuns"),
        *("ListGraphBranches", "ListMergeProposals"),
    }
)
"""Of what is derived for an agent. The Compactor keeps no agents; of a missing one it has nothing."""
WORK: Final = frozenset({"RunConsolidation", "RebuildDocuments"})
"""Likewise done for an agent, whether or not there is one."""


def passed_on(descriptor: ServiceDescriptor, stub: Any) -> Face:
    """A service whose calls go to `stub`. Only its unary calls and response streams can be passed on."""
    handlers = {method.name: _handler(method, getattr(stub, method.name)) for method in descriptor.methods}
    generic = grpc.method_handlers_generic_handler(descriptor.full_name, handlers)

    def add(server: Any) -> None:
        server.add_generic_rpc_handlers((generic,))

    return Face(name=descriptor.full_name, add=add, roles=roles_of(descriptor))


def _handler(method: MethodDescriptor, call: Callable[[Message], Any]) -> grpc.RpcMethodHandler[Any, Any]:
    assert not method.client_streaming

    async def unary(request: Message, _context: Any) -> Message:
        answer: Message = await call(request)
        return answer

    async def stream(request: Message, _context: Any) -> AsyncIterator[Message]:
        # The channels between services give a generator for a stream: left early, it ends the call behind.
        answers: AsyncGenerator[Message, None] = call(request)
        async with aclosing(answers):
            async for answer in answers:
                yield answer

    coding: dict[str, Any] = {
        "request_deserializer": GetMessageClass(method.input_type).FromString,
        "response_serializer": GetMessageClass(method.output_type).SerializeToString,
    }
    if method.server_streaming:
        return grpc.unary_stream_rpc_method_handler(stream, **coding)
    return grpc.unary_unary_rpc_method_handler(unary, **coding)


class _History:
    """The stub of HistoryService, and what the gateway adds to its answers."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends

    def __getattr__(self, method: str) -> Any:
        return getattr(self._backends.history, method)

    async def SwitchLeaf(self, request: history_pb2.SwitchLeafRequest) -> history_pb2.SwitchLeafResponse:
        """With the indexed count, where it can be had: the switch is done and no error may hide it."""
        answer = await self._backends.history.SwitchLeaf(request)
        with suppress(DependencyDown, DeadlineExceeded):
            await count_indexed(self._backends, request.agent_id, [answer.conversation])
        return answer

    def WatchConversation(
        self, request: history_pb2.WatchConversationRequest
    ) -> AsyncGenerator[history_pb2.WatchConversationResponse, None]:
        """With the indexed count."""
        return watch_conversation(self._backends, request)


class _Search:
    """The stub of SearchService, asked for all of a person."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends

    async def SearchDocuments(
        self, request: search_pb2.SearchDocumentsRequest
    ) -> search_pb2.SearchDocumentsResponse:
        """With the contacts that were merged into those named."""
        return await search_documents(self._backends, request)


class _Derived:
    """A stub of the Compactor's that tells an agent of whom nothing is derived from one that is not there."""

    def __init__(self, stub: Any, backends: Backends) -> None:
        self._stub = stub
        self._backends = backends

    def __getattr__(self, method: str) -> Any:
        call = getattr(self._stub, method)
        if method in LISTS:
            return partial(self._listed, call)
        return partial(self._worked, call) if method in WORK else call

    async def _listed(self, call: Callable[[Any], Any], request: Any) -> Message:
        """Only what is empty costs another call, so that what is there can be read without Episodic."""
        answer: Message = await call(request)
        if not answer.ListFields():
            await self._check(request.agent_id)
        return answer

    async def _worked(self, call: Callable[[Any], Any], request: Any) -> Message:
        if request.agent_id:
            await self._check(request.agent_id)
        answer: Message = await call(request)
        return answer

    async def _check(self, agent_id: str) -> None:
        """Raises NotFound."""
        await self._backends.episodic.GetAgent(episodic_pb2.GetAgentRequest(agent_id=agent_id))


def faces(backends: Backends) -> tuple[Face, ...]:
    """The services that applications call."""
    return (
        passed_on(history_pb2.DESCRIPTOR.services_by_name["HistoryService"], _History(backends)),
        passed_on(working_pb2.DESCRIPTOR.services_by_name["WorkingMemoryService"], backends.working),
        passed_on(state_pb2.DESCRIPTOR.services_by_name["StateService"], backends.state),
        passed_on(
            derived_pb2.DESCRIPTOR.services_by_name["DerivedWorkService"],
            _Derived(backends.derived, backends),
        ),
        passed_on(
            documents_pb2.DESCRIPTOR.services_by_name["DocumentsService"],
            _Derived(backends.documents, backends),
        ),
        passed_on(
            insight_pb2.DESCRIPTOR.services_by_name["InsightService"], _Derived(backends.insights, backends)
        ),
        passed_on(graph_pb2.DESCRIPTOR.services_by_name["GraphService"], _Derived(backends.graph, backends)),
        passed_on(search_pb2.DESCRIPTOR.services_by_name["SearchService"], _Search(backends)),
    )
