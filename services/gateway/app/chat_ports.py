"""What a chat needs (SPEC G-4, G-8)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import datetime
from typing import Protocol

from services.gateway.domain.turns import Ask, Cause, Place, Round, Stored
from services.kit.models.types import Completion, Delta, Message, Tier, Tool


class TurnLeases(Protocol):
    """Who answers a conversation: one holder at a time over all replicas (G-4).

    Times are those of the callers' clocks, which may differ by much less than a lease lasts.
    """

    async def acquire(self, place: Place, holder: str, now: datetime, until: datetime) -> bool:
        """Takes a lease that is free, ended before `now`, or the holder's own."""

    async def renew(self, place: Place, holder: str, until: datetime) -> bool:
        """Makes it last longer; False where somebody else has it by now."""

    async def release(self, place: Place, holder: str) -> None:
        """Ends it, if it is the holder's."""


class ChatModel(Protocol):
    """Models by tier; see services.kit.models.client.ModelClient. Calls raise ModelUnavailable."""

    def has(self, tier: Tier) -> bool:
        """Whether the tier has an endpoint."""

    def leaves(self, tier: Tier) -> bool:
        """Whether what is sent to it leaves the operator's machines."""

    def name(self, tier: Tier) -> str:
        """What the settings call the tier's model. Raises ModelUnavailable for a tier without one."""

    async def complete(
        self,
        tier: Tier,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float | None = None,
        deadline: float | None = None,
        tools: Sequence[Tool] = (),
    ) -> Completion:
        """An answer."""

    def stream(
        self,
        tier: Tier,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float | None = None,
        deadline: float | None = None,
        tools: Sequence[Tool] = (),
    ) -> AsyncGenerator[Delta, None]:
        """An answer piece by piece, then its end."""


class Leave(Protocol):
    """Asked before texts go to an endpoint that is somebody else's (S-15)."""

    async def __call__(self, tenant: str, agent_id: str) -> None:
        """Raises DataFlowRefused."""


class TurnStore(Protocol):
    """What is kept of turns, in Episodic. Every call raises NotFound and DependencyDown."""

    async def find(self, ask: Ask) -> Stored | None:
        """What is stored of the turn; None before the user's message is.

        Raises Exists where that is another one.
        """

    async def indexed(self, ask: Ask) -> tuple[object, ...]:
        """Waits, within the deadline, for what the ask waits for; returns what was waited for in vain."""

    async def put_user(self, ask: Ask, ours: Callable[[], Awaitable[bool]]) -> None:
        """Stores the user's message at the end of the active path, once, while the turn is `ours`.

        Raises Exists where the turn's message is another one, TurnRunning where the turn is not ours.
        """

    async def rounds(self, ask: Ask) -> tuple[Round, ...]:
        """The rounds of the turn's checkpoint, texts and results shortened as they were saved; none
        without one."""

    async def save(self, ask: Ask, round_: Round) -> None:
        """Saves a round in the turn's checkpoint, with the results that are there (W-3)."""

    async def finish(
        self,
        ask: Ask,
        rounds: Sequence[Round],
        answer: str,
        interruption: Cause | None,
        ours: Callable[[], Awaitable[bool]],
    ) -> object:
        """Stores rounds and answer after the user's message, and ends the checkpoint, in one transaction.

        `ours` tells whether the turn is this process's still. Returns the freshness token. Raises TurnRunning
        where it is another's: then nothing was stored that its turn has not seen, and a turn that has an
        answer keeps it.
        """

    def token(self, ask: Ask, sequence: int) -> object:
        """The freshness token of a message that is stored."""
