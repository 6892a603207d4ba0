"""Assembling the prompt of the next turn (SPEC G-1, G-2)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from services.gateway.app.ports import Found, PromptSources
from services.gateway.domain.prompt import (
    DEFAULT_BUDGET,
    Ingredients,
    LayerKind,
    Prompt,
    assemble,
    facts_layer,
    shares,
)

LEAST_HISTORY_TOKENS = 1


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
    ) -> tuple[Prompt, Found]:
        """The prompt, and what recall found and failed at. Raises NotFound, BudgetTooSmall."""
        budget = budget or DEFAULT_BUDGET
        view = await self._sources.conversation(agent_id, conversation_id)
        split = shares(view.system_prompt, author, message, budget)
        standing, found = await asyncio.gather(
            self._sources.standing(agent_id, view.contact_ids),
            self._sources.find(agent_id, conversation_id, view.contact_ids, message, wait_for),
        )
        facts_used = facts_layer(standing.memories, split.facts).tokens
        room = split.history(facts_used, 0)
        window = await self._sources.window(agent_id, conversation_id, max(LEAST_HISTORY_TOKENS, room))
        ingredients = Ingredients(
            system_prompt=view.system_prompt,
            message=message,
            author=author,
            facts=standing.memories,
            history=window.turns,
            head=window.head,
            omitted=window.omitted,
            older=found.older,
            memories=found.memories,
        )
        prompt = assemble(ingredients, budget)
        placed = [
            id_ for layer in prompt.layers if layer.kind != LayerKind.SYSTEM for id_ in layer.memory_ids
        ]
        if placed:
            await self._sources.count_access(agent_id, list(dict.fromkeys(placed)))
        return prompt, replace(found, failures=(*standing.failures, *found.failures))
