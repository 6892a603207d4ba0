"""HistoryService: convert, await the use case, convert back."""

from __future__ import annotations

from functools import partial
from typing import Any

from palimpsest.history.v1 import history_pb2 as pb
from palimpsest.history.v1 import history_pb2_grpc, overlays_pb2, windows_pb2

from services.kit import paging
from services.kit.context import current_principal
from services.kit.serving import Face, roles_of
from services.kit.watching import deliver
from services.memory.episodic.app.history import Event, History
from services.memory.episodic.app.ports import Position
from services.memory.episodic.app.usage import UsageCounts
from services.memory.episodic.domain.window import Mode
from services.memory.episodic.rpc import convert
from services.memory.episodic.rpc import history_convert as converted

Context = Any
DESCRIPTOR = pb.DESCRIPTOR.services_by_name["HistoryService"]


def face(history: History, usage: UsageCounts, *, patience: float, fold_tokens: int) -> Face:
    """The service as it is served."""
    servicer = HistoryServicer(history, usage, patience=patience, fold_tokens=fold_tokens)
    return Face(
        name=DESCRIPTOR.full_name,
        add=partial(history_pb2_grpc.add_HistoryServiceServicer_to_server, servicer),
        roles=roles_of(DESCRIPTOR),
    )


class HistoryServicer(history_pb2_grpc.HistoryServiceServicer):
    """HistoryService over the use cases; a watcher that reads nothing for `patience` seconds is dropped."""

    def __init__(self, history: History, usage: UsageCounts, *, patience: float, fold_tokens: int) -> None:
        self._history = history
        self._usage = usage
        self._patience = patience
        self._fold_tokens = fold_tokens

    async def GetWindow(
        self, request: windows_pb2.GetWindowRequest, context: Context
    ) -> windows_pb2.GetWindowResponse:
        """See the proto."""
        key = convert.key_of(current_principal().tenant, request)
        if request.WhichOneof("choice") == "mode":
            window, depth = await self._history.newest(key, request.leaf_id, Mode(request.mode.mode))
            return converted.window_proto(window, depth, exact=False)
        wanted = request.budget
        window, depth, exact = await self._history.window(
            key,
            request.leaf_id,
            wanted.tokens,
            model=wanted.model,
            rolling_summary=wanted.rolling_summary,
        )
        return converted.window_proto(window, depth, exact=exact)

    async def ListPath(self, request: pb.ListPathRequest, context: Context) -> pb.ListPathResponse:
        """See the proto."""
        key = convert.key_of(current_principal().tenant, request)
        order = "newest" if request.newest_first else "oldest"
        listing = f"ListPath {key.agent_id} {key.id} {request.leaf_id} {order}"
        after, leaf_id = converted.path_position(listing, request)
        if after is None and not request.newest_first:
            after = request.after_depth or None
        page = await self._history.path(
            key,
            leaf_id,
            newest_first=request.newest_first,
            limit=paging.page_size(request.page_size),
            after=after,
        )
        return pb.ListPathResponse(
            messages=map(convert.message_proto, page.items),
            next_page_token=converted.path_token(listing, page),
        )

    async def ListBranches(
        self, request: pb.ListBranchesRequest, context: Context
    ) -> pb.ListBranchesResponse:
        """See the proto."""
        key = convert.key_of(current_principal().tenant, request)
        listing = f"ListBranches {key.agent_id} {key.id} {request.message_id}"
        page = await self._history.branches(
            key,
            request.message_id,
            limit=paging.page_size(request.page_size),
            after=paging.number_position(listing, request.page_token),
        )
        return pb.ListBranchesResponse(
            branches=map(converted.branch_proto, page.items),
            next_page_token=paging.next_token(listing, page.last),
        )

    async def SwitchLeaf(self, request: pb.SwitchLeafRequest, context: Context) -> pb.SwitchLeafResponse:
        """See the proto."""
        key = convert.key_of(current_principal().tenant, request)
        conversation = await self._history.switch(key, request.message_id)
        return pb.SwitchLeafResponse(conversation=convert.conversation_proto(conversation))

    async def ForkConversation(
        self, request: pb.ForkConversationRequest, context: Context
    ) -> pb.ForkConversationResponse:
        """See the proto."""
        key = convert.key_of(current_principal().tenant, request)
        forked = await self._history.fork(key, request.message_id, request.new_conversation_id, request.title)
        return pb.ForkConversationResponse(conversation=convert.conversation_proto(forked))

    async def RenderConversation(
        self, request: pb.RenderConversationRequest, context: Context
    ) -> pb.RenderConversationResponse:
        """See the proto."""
        key = convert.key_of(current_principal().tenant, request)
        listing = f"RenderConversation {key.agent_id} {key.id} {request.leaf_id}"
        after, leaf_id = converted.path_position(listing, request)
        ranges, page = await self._history.rendering(
            key, leaf_id, limit=paging.page_size(request.page_size), after=after
        )
        return converted.rendering_proto(ranges, converted.path_token(listing, page))

    async def PutOverlay(
        self, request: overlays_pb2.PutOverlayRequest, context: Context
    ) -> overlays_pb2.PutOverlayResponse:
        """See the proto."""
        overlay = await self._history.put_overlay(
            convert.key_of(current_principal().tenant, request),
            request.overlay_id,
            request.from_message_id,
            request.to_message_id,
            request.summary,
            request.model,
            request.folded_overlay_ids,
            replace=request.replace,
        )
        return overlays_pb2.PutOverlayResponse(overlay=converted.overlay_proto(overlay))

    async def ListOverlays(
        self, request: overlays_pb2.ListOverlaysRequest, context: Context
    ) -> overlays_pb2.ListOverlaysResponse:
        """See the proto."""
        key = convert.key_of(current_principal().tenant, request)
        listing = f"ListOverlays {key.agent_id} {key.id} {request.leaf_id} {request.include_superseded}"
        page = await self._history.overlays(
            key,
            request.leaf_id,
            superseded=request.include_superseded,
            limit=paging.page_size(request.page_size),
            after=paging.number_position(listing, request.page_token),
        )
        return overlays_pb2.ListOverlaysResponse(
            overlays=map(converted.overlay_proto, page.items),
            next_page_token=paging.next_token(listing, page.last),
        )

    async def GetCoverage(
        self, request: overlays_pb2.GetCoverageRequest, context: Context
    ) -> overlays_pb2.GetCoverageResponse:
        """See the proto."""
        key = convert.key_of(current_principal().tenant, request)
        uncovered, over_share = await self._history.coverage(key)
        return converted.coverage_proto(uncovered, over_share, self._fold_tokens)

    # A coroutine that writes to its context, so that it sees how long a write takes; the stubs' type is
    # that of a generator.
    async def WatchConversation(  # type: ignore[override]
        self, request: pb.WatchConversationRequest, context: Context
    ) -> None:
        """See the proto."""
        key = convert.key_of(current_principal().tenant, request)
        now = await self._history.start_of(key)
        start = converted.start_position(key, request) or now

        def message(event: tuple[Event, Position]) -> pb.WatchConversationResponse:
            return converted.event_proto(key, *event)

        await deliver(
            context,
            ((event, event[1]) async for event in self._history.watch(key, start)),
            message,
            start=start,
            patience=self._patience,
            to_text=lambda position: converted.resume_token(key, position),
        )

    async def RecordUsage(self, request: pb.RecordUsageRequest, context: Context) -> pb.RecordUsageResponse:
        """See the proto."""
        tokens = await self._usage.record(
            current_principal().tenant,
            request.agent_id,
            request.conversation_id,
            request.tier,
            request.model,
            converted.spent(request),
        )
        return pb.RecordUsageResponse(tokens=pb.CallTokens(input=tokens.input, output=tokens.output))

    async def GetUsage(self, request: pb.GetUsageRequest, context: Context) -> pb.GetUsageResponse:
        """See the proto."""
        rows = await self._usage.total(
            current_principal().tenant,
            request.agent_id,
            request.conversation_id,
            converted.moment(request, "start_time"),
            converted.moment(request, "end_time"),
        )
        return converted.usage_proto(rows)
