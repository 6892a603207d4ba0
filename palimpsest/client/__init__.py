"""The asynchronous client of the gateway; palimpsest.sync wraps it."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import grpc

from palimpsest.client.administration import AdministrationCalls
from palimpsest.client.agents import AgentCalls
from palimpsest.client.attractors import AttractorCalls
from palimpsest.client.chat import ChatCalls
from palimpsest.client.context import ContextCalls
from palimpsest.client.conversations import ConversationCalls
from palimpsest.client.derived import DerivedCalls
from palimpsest.client.graph import GraphCalls
from palimpsest.client.history import HistoryCalls
from palimpsest.client.indexes import IndexCalls
from palimpsest.client.insights import InsightCalls
from palimpsest.client.memories import MemoryCalls
from palimpsest.client.policy import RetryPolicy
from palimpsest.client.searching import SearchCalls
from palimpsest.client.settings import SettingsCalls
from palimpsest.client.state import StateCalls
from palimpsest.client.summaries import SummaryCalls
from palimpsest.client.tools import ToolCalls
from palimpsest.client.transport import Transport
from palimpsest.client.working import WorkingCalls
from palimpsest.endpoint import resolve

DEFAULT_AGENT = "default"


class AsyncClient(
    AgentCalls,
    ConversationCalls,
    HistoryCalls,
    MemoryCalls,
    ChatCalls,
    WorkingCalls,
    ContextCalls,
    StateCalls,
    SettingsCalls,
    IndexCalls,
    InsightCalls,
    GraphCalls,
    DerivedCalls,
    SummaryCalls,
    SearchCalls,
    ToolCalls,
    AttractorCalls,
    AdministrationCalls,
):
    """Calls a Palimpsest gateway; belongs to the event loop in which it is first used.

    Without a target: $PALIMPSEST_TARGET, else the suite that runs on this machine, else 127.0.0.1:7777.
    Without a key: $PALIMPSEST_API_KEY, else, for a target on this machine, the key that the suite made.
    `timeout` in seconds spans a call with its retries; without it each method has its own default.
    `credentials` (from grpc.ssl_channel_credentials) make the channel use TLS.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        api_key: str | None = None,
        agent: str = DEFAULT_AGENT,
        timeout: float | None = None,
        retries: RetryPolicy | None = None,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        endpoint = resolve(target, api_key)
        super().__init__(
            Transport(
                endpoint.target,
                api_key=endpoint.api_key,
                timeout=timeout,
                retries=retries,
                credentials=credentials,
            ),
            agent,
        )

    @property
    def target(self) -> str:
        """Where it connects to."""
        return self._transport.target

    def with_agent(self, agent: str) -> AsyncClient:
        """A client for another agent over the same channel; closing either closes both."""
        other = AsyncClient.__new__(AsyncClient)
        other._transport, other._agent = self._transport, agent
        return other

    @classmethod
    def over(cls, channel: grpc.aio.Channel, *, agent: str = DEFAULT_AGENT) -> AsyncClient:
        """A client without a key over a channel that is open already; closing it leaves the channel open."""
        made = cls.__new__(cls)
        made._transport, made._agent = Transport("", api_key=None, channel=channel), agent
        return made

    def with_key(self, api_key: str, *, agent: str | None = None) -> AsyncClient:
        """A client with another key, and agent if one is named, over the same channel.

        The channel stays this client's to close.
        """
        other = AsyncClient.__new__(AsyncClient)
        other._transport, other._agent = self._transport.with_key(api_key), agent or self._agent
        return other

    async def close(self) -> None:
        """Ends running calls and the connection."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
