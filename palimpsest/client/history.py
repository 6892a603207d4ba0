"""Calls about what lies along a conversation: windows, branches, overlays, changes, usage."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from datetime import datetime

from palimpsest import models
from palimpsest.client import incoming, names, outgoing
from palimpsest.client import incoming_history as converted
from palimpsest.client.base import Calls
from palimpsest.history.v1 import history_pb2 as pb
from palimpsest.history.v1 import overlays_pb2, windows_pb2


class HistoryCalls(Calls):
    """A conversation as a tree with summaries over it. Without a `leaf_id` the active path is meant."""

    async def window(
        self,
        conversation_id: str,
        *,
        tokens: int | None = None,
        mode: models.WindowMode | None = None,
        leaf_id: str = "",
        model: str = "",
        rolling_summary: str = "",
    ) -> models.Window:
        """The slice that fits a budget of tokens, or the newest messages (`mode`): exactly one is given.

        With a `model` whose tokenizer the server has, its tokens are counted. The rolling summary takes the
        place of overlays while there are none.
        """
        if (tokens is None) == (mode is None):
            raise ValueError("give either tokens or mode")
        request = windows_pb2.GetWindowRequest(
            agent_id=self._agent, conversation_id=conversation_id, leaf_id=leaf_id
        )
        if tokens is not None:
            budget = windows_pb2.BudgetWindow(tokens=tokens, model=model, rolling_summary=rolling_summary)
            request.budget.CopyFrom(budget)
        else:
            request.mode.mode = names.WINDOWS.optional(mode)
        return converted.window(await self._transport.call(self._transport.stubs.history.GetWindow, request))

    async def path(
        self, conversation_id: str, *, leaf_id: str = "", newest_first: bool = False, page_size: int = 0
    ) -> AsyncIterator[models.Message]:
        """The messages of a path, from its root to its leaf."""
        request = pb.ListPathRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            leaf_id=leaf_id,
            newest_first=newest_first,
            page_size=page_size,
        )
        async for page in self._pages(self._transport.stubs.history.ListPath, request):
            for proto in page.messages:
                yield incoming.message(proto)

    async def branches(self, conversation_id: str, message_id: str = "") -> list[models.Branch]:
        """The continuations of a message, by default the first messages, in the order they were begun."""
        request = pb.ListBranchesRequest(
            agent_id=self._agent, conversation_id=conversation_id, message_id=message_id
        )
        pages = self._pages(self._transport.stubs.history.ListBranches, request)
        return [converted.branch(proto) async for page in pages for proto in page.branches]

    async def switch_leaf(self, conversation_id: str, message_id: str) -> models.Conversation:
        """Makes the path to a leaf the active one; of another message, the leaf below it stored last."""
        request = pb.SwitchLeafRequest(
            agent_id=self._agent, conversation_id=conversation_id, message_id=message_id
        )
        answer = await self._transport.call(self._transport.stubs.history.SwitchLeaf, request)
        return incoming.conversation(answer.conversation)

    async def fork(
        self,
        conversation_id: str,
        message_id: str,
        new_conversation_id: str | None = None,
        *,
        title: str = "",
    ) -> models.Conversation:
        """Begins a new conversation with copies of the messages up to one.

        Without an id the client makes one, so that a retry cannot create a second conversation.
        """
        request = pb.ForkConversationRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            message_id=message_id,
            new_conversation_id=new_conversation_id or uuid.uuid4().hex,
            title=title,
        )
        stub = self._transport.stubs.history
        answer = await self._transport.call(stub.ForkConversation, request, retry=True)
        return incoming.conversation(answer.conversation)

    async def render(
        self, conversation_id: str, *, leaf_id: str = "", page_size: int = 0
    ) -> AsyncIterator[models.RenderedPage]:
        """A path with its overlays over the originals, page by page."""
        request = pb.RenderConversationRequest(
            agent_id=self._agent, conversation_id=conversation_id, leaf_id=leaf_id, page_size=page_size
        )
        async for page in self._pages(self._transport.stubs.history.RenderConversation, request):
            yield converted.rendered_page(page)

    async def put_overlay(
        self,
        conversation_id: str,
        from_message_id: str,
        to_message_id: str,
        summary: str,
        *,
        model: str,
        overlay_id: str | None = None,
        folded_overlay_ids: Sequence[str] = (),
        replace: bool = False,
    ) -> models.Overlay:
        """Stores a summary over a range of messages, and folds older overlays into it if they are named.

        `model` says what wrote it. Without an id the client makes one; the same again returns the stored one.
        With `replace` it takes the place of what an overlay of this id and range says.
        """
        request = overlays_pb2.PutOverlayRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            overlay_id=overlay_id or uuid.uuid4().hex,
            from_message_id=from_message_id,
            to_message_id=to_message_id,
            summary=summary,
            model=model,
            folded_overlay_ids=folded_overlay_ids,
            replace=replace,
        )
        answer = await self._transport.call(self._transport.stubs.history.PutOverlay, request)
        return converted.overlay(answer.overlay)

    async def overlays(
        self,
        conversation_id: str,
        *,
        leaf_id: str = "",
        include_superseded: bool = False,
        page_size: int = 0,
    ) -> AsyncIterator[models.Overlay]:
        """The overlays of a path in the order of their last change."""
        request = overlays_pb2.ListOverlaysRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            leaf_id=leaf_id,
            include_superseded=include_superseded,
            page_size=page_size,
        )
        async for page in self._pages(self._transport.stubs.history.ListOverlays, request):
            for proto in page.overlays:
                yield converted.overlay(proto)

    async def coverage(self, conversation_id: str) -> models.Coverage:
        """What is due to be summarised on the active path."""
        request = overlays_pb2.GetCoverageRequest(agent_id=self._agent, conversation_id=conversation_id)
        answer = await self._transport.call(self._transport.stubs.history.GetCoverage, request)
        return converted.coverage(answer)

    async def watch_conversation(
        self, conversation_id: str, *, after_sequence: int | None = None, resume_token: str = ""
    ) -> AsyncGenerator[models.ConversationEvent, None]:
        """What happens in a conversation as it happens, each event once and in order, without end.

        From now on; with `after_sequence` from the message after that one (0: from the first); with the
        `resume_token` of an event after that event. A stream that breaks is opened again where it broke.
        """
        if after_sequence is not None and resume_token:
            raise ValueError("give either after_sequence or resume_token")
        request = pb.WatchConversationRequest(agent_id=self._agent, conversation_id=conversation_id)
        if resume_token:
            request.resume_token = resume_token
        elif after_sequence is not None:
            request.after_sequence = after_sequence
        events = self._transport.resumed(self._transport.stubs.history.WatchConversation, lambda: request)
        async with aclosing(events):
            async for proto in events:
                request.resume_token = proto.resume_token
                if (event := converted.event(proto)) is not None:
                    yield event

    async def record_usage(
        self,
        model: str,
        spent: models.CallTokens | tuple[str, str],
        *,
        tier: str,
        conversation_id: str = "",
    ) -> models.CallTokens:
        """Counts a call of a model; `spent` are its tokens, or its input and output text to be estimated.

        Never retried, as it would count twice.
        """
        request = pb.RecordUsageRequest(
            agent_id=self._agent, conversation_id=conversation_id, tier=tier, model=model
        )
        if isinstance(spent, models.CallTokens):
            request.tokens.input, request.tokens.output = spent.input, spent.output
        else:
            request.texts.input, request.texts.output = spent
        answer = await self._transport.call(self._transport.stubs.history.RecordUsage, request)
        return converted.call_tokens(answer.tokens)

    async def usage(
        self,
        *,
        conversation_id: str = "",
        start_time: datetime | None = None,
        end_time: datetime | None = None,
    ) -> list[models.UsageRow]:
        """What models were used for by day, conversation, tier and model, the newest days first."""
        request = pb.GetUsageRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            start_time=outgoing.timestamp(start_time),
            end_time=outgoing.timestamp(end_time),
        )
        answer = await self._transport.call(self._transport.stubs.history.GetUsage, request)
        return [converted.usage_row(proto) for proto in answer.rows]
