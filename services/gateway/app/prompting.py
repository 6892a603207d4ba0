"""Assembling the prompt of the next turn (SPEC G-1, G-2, E-10)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from services.gateway.app.ports import ConversationView, Found, PromptSources, Rolling
from services.gateway.domain.history import Window
from services.gateway.domain.parts import History, Ingredients, Layer, Prompt, Turn, Working
from services.gateway.domain.prompt import DEFAULT_BUDGET, Shares, assemble, shares, standing_layers
from services.kit.tokens import TokenCounter, estimate_tokens

LEAST_HISTORY_TOKENS = 1  # of a window, which may be asked for nothing less
LEAST_SUMMARISED = 4
"""Messages of a path that may have a rolling summary (J-5)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A turn that goes on: its message is stored already, and its checkpoint is its own to use."""

    message_id: str
    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """The prompt, the revision of its system prompt, and what recall found and failed at.

    `exact`: whether tokens are those of the model's tokenizer rather than the estimate.
    """

    prompt: Prompt
    prompt_revision: int
    found: Found
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Of which conversation a prompt is asked for, and in whose tokens."""

    agent_id: str
    conversation_id: str
    view: ConversationView
    model: str
    count: TokenCounter
    attractor_version: int
    resumed: Resumed | None

    def others(self, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """Without the message that is stored already and is shown as the new one."""
        return tuple(
            one for one in turns if self.resumed is None or one.message_id != self.resumed.message_id
        )

    def before(self, history: History) -> History:
        """The window as it was before that message was stored."""
        if self.resumed is None:
            return history
        head, tail = self.others(history.head), self.others(history.tail)
        return replace(history, head=head, tail=tail, depth=max(0, history.depth - 1))

    def left(self, working: Working) -> Working:
        """Without the checkpoint of the turn itself."""
        own = self.resumed and working.stale and working.stale.turn_id == self.resumed.turn_id
        return replace(working, stale=None) if own else working


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gathered:
    """All but what recall found: the ingredients, what of the prompt is made already, and failures."""

    parts: Ingredients
    layers: tuple[Layer, Layer]
    window: Window
    failures: tuple[object, ...]


class Prompting:
    """Gathers the ingredients side by side, then lets the pure part write.

    `counters` are exact tokenizers by model (E-10).
    """

    def __init__(
        self, sources: PromptSources, *, counters: Mapping[str, TokenCounter] = MappingProxyType({})
    ) -> None:
        self._sources = sources
        self._counters = counters
        self._counting: set[asyncio.Task[None]] = set()

    async def settle(self) -> None:
        """Waits until the accesses of all prompts so far are counted."""
        while self._counting:
            await asyncio.gather(*self._counting, return_exceptions=True)

    def _count(self, agent_id: str, memory_ids: Sequence[str]) -> None:
        """Counts accesses while the caller goes on: no prompt depends on them until memories change."""
        task = asyncio.create_task(self._sources.count_access(agent_id, memory_ids))
        self._counting.add(task)
        task.add_done_callback(self._counting.discard)

    async def assemble(
        self,
        agent_id: str,
        conversation_id: str,
        message: str,
        *,
        author: str,
        budget: int,
        wait_for: Sequence[object],
        resumed: Resumed | None = None,
        model: str = "",
        attractor_version: int = 0,
    ) -> Assembled:
        """What is stored of a resumed turn is its new message alone; 0 for the agent's attractor as it is.

        Raises NotFound, BudgetTooSmall.
        """
        budget = budget or DEFAULT_BUDGET
        count = self._counters.get(model, estimate_tokens)
        view = await self._sources.conversation(agent_id, conversation_id)
        asked = _Asked(
            agent_id=agent_id,
            conversation_id=conversation_id,
            view=view,
            model=model,
            count=count,
            attractor_version=attractor_version,
            resumed=resumed,
        )
        plain = Ingredients(system_prompt=view.system_prompt, message=message, author=author)
        split = await counted(count, lambda: shares(view.system_prompt, author, message, budget, count=count))
        found, gathered = await asyncio.gather(
            self._sources.find(agent_id, conversation_id, view.contact_ids, message, wait_for),
            self._gather(asked, plain, split),
        )
        parts = replace(
            gathered.parts,
            older=asked.others(found.older),
            memories=found.memories,
            documents=found.documents,
        )
        prompt = await counted(
            count,
            lambda: assemble(parts, budget, count=count, standing=gathered.layers, window=gathered.window),
        )
        if placed := list(dict.fromkeys(id_ for layer in prompt.layers for id_ in layer.memory_ids)):
            self._count(agent_id, placed)
        return Assembled(
            prompt=prompt,
            prompt_revision=view.prompt_revision,
            found=replace(found, failures=(*gathered.failures, *found.failures)),
            exact=count is not estimate_tokens,
        )

    async def _gather(self, asked: _Asked, plain: Ingredients, split: Shares) -> _Gathered:
        """All that doesn't depend on recall; history last, within what the others leave."""
        sources, count = self._sources, asked.count
        standing, told, working, rolling = await asyncio.gather(
            sources.standing(asked.agent_id, asked.view.contact_ids),
            sources.themes(asked.agent_id, asked.view.contact_ids, asked.attractor_version),
            sources.working(asked.agent_id, asked.conversation_id),
            self._rolling(asked.agent_id, asked.conversation_id, asked.view),
        )
        parts = replace(
            plain,
            facts=standing.memories,
            themes=told.themes,
            attractor_version=told.version,
            working=asked.left(working),
        )
        layers = await counted(count, lambda: standing_layers(parts, split, count=count))
        used = (layer.tokens for layer in layers)
        room = max(LEAST_HISTORY_TOKENS, split.history(*used, retrieves=False))
        history = asked.before(
            await sources.window(asked.agent_id, asked.conversation_id, room, rolling, model=asked.model)
        )
        return _Gathered(
            parts=replace(parts, history=history),
            layers=layers,
            # Written while recall is still busy.
            window=await counted(count, lambda: Window(history, count=count)),
            failures=(*standing.failures, *told.failures, *rolling.failures),
        )

    async def _rolling(self, agent_id: str, conversation_id: str, view: ConversationView) -> Rolling:
        """Where overlays are, they are shown instead; a short path is shown whole (E-5)."""
        if view.covered or view.depth < LEAST_SUMMARISED:
            return Rolling()
        return await self._sources.rolling(agent_id, conversation_id)


async def counted(count: TokenCounter, work: Callable[[], T]) -> T:
    """What counts by `count`: a tokenizer takes long enough for other calls to have to wait meanwhile."""
    return work() if count is estimate_tokens else await asyncio.to_thread(work)
