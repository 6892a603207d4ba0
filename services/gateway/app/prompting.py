"""Assembling the prompt of the next turn (SPEC G-1, G-2)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.gateway.app.ports import ConversationView, Found, PromptSources, Rolling
from services.gateway.domain.attractor import facts_with_attractor
from services.gateway.domain.parts import Ingredients, Prompt
from services.gateway.domain.prompt import DEFAULT_BUDGET, assemble, shares
from services.gateway.domain.working import working_layer

LEAST_HISTORY_TOKENS = 1
LEAST_SUMMARISED = 4
"""Messages of a path that may have a rolling summary (J-5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """The prompt, the revision of its system prompt, and what recall found and failed at."""

    prompt: Prompt
    prompt_revision: int
    found: Found


class Prompting:
    """Gathers the ingredients side by side, then lets the pure part write."""

    def __init__(self, sources: PromptSources) -> None:
        self._sources = sources

    async def assemble(
        self,
        agent_id: str,
        conversation_id: str,
        message: str,
        *,
        author: str,
        budget: int,
        wait_for: Sequence[object],
    ) -> Assembled:
        """Raises NotFound, BudgetTooSmall."""
        budget = budget or DEFAULT_BUDGET
        sources = self._sources
        view = await sources.conversation(agent_id, conversation_id)
        split = shares(view.system_prompt, author, message, budget)
        standing, told, found, working, rolling = await asyncio.gather(
            sources.standing(agent_id, view.contact_ids),
            sources.themes(agent_id),
            sources.find(agent_id, conversation_id, view.contact_ids, message, wait_for),
            sources.working(agent_id, conversation_id),
            self._rolling(agent_id, conversation_id, view),
        )
        room = split.history(
            facts_with_attractor(standing.memories, told.themes, split.facts).tokens,
            working_layer(working, split.working).tokens,
        )
        ingredients = Ingredients(
            system_prompt=view.system_prompt,
            message=message,
            author=author,
            facts=standing.memories,
            themes=told.themes,
            working=working,
            history=await sources.window(agent_id, conversation_id, max(LEAST_HISTORY_TOKENS, room), rolling),
            older=found.older,
            memories=found.memories,
        )
        prompt = assemble(ingredients, budget)
        if placed := list(dict.fromkeys(id_ for layer in prompt.layers for id_ in layer.memory_ids)):
            await sources.count_access(agent_id, placed)
        return Assembled(
            prompt=prompt,
            prompt_revision=view.prompt_revision,
            found=replace(
                found, failures=(*standing.failures, *told.failures, *rolling.failures, *found.failures)
            ),
        )

    async def _rolling(self, agent_id: str, conversation_id: str, view: ConversationView) -> Rolling:
        """Where overlays are, they are shown instead; a short path is shown whole (E-5)."""
        if view.covered or view.depth < LEAST_SUMMARISED:
            return Rolling()
        return await self._sources.rolling(agent_id, conversation_id)
