"""Use cases on agents."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.errors import InvalidField
from services.kit.times import Clock, to_micros
from services.memory.episodic.app.ports import AgentStore, Page
from services.memory.episodic.domain.checks import check_size, check_text
from services.memory.episodic.domain.model import Agent

MAX_ID = 128
MAX_NAME = 256  # characters
MAX_SYSTEM_PROMPT_BYTES = 65_536
UPDATABLE = ("display_name", "system_prompt")


class Agents:
    """Creates, reads and changes agents."""

    def __init__(self, store: AgentStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def create(self, tenant: str, agent_id: str, display_name: str, system_prompt: str) -> Agent:
        """The agent, new or as it was created before. Raises InvalidField, Exists."""
        check_text("display_name", display_name)
        check_text("system_prompt", system_prompt)
        agent = Agent(
            id=agent_id,
            display_name=display_name,
            system_prompt=system_prompt,
            create_time=to_micros(self._clock()),
        )
        return await self._store.create(tenant, agent)

    async def get(self, tenant: str, agent_id: str) -> Agent:
        """Raises NotFound."""
        return await self._store.get(tenant, agent_id)

    async def list(
        self, tenant: str, among: frozenset[str] | None, *, limit: int, after: str | None
    ) -> Page[Agent, str]:
        """Those that the credential may see, by id."""
        return await self._store.list(tenant, among, limit=limit, after=after)

    async def update(
        self, tenant: str, agent_id: str, display_name: str, system_prompt: str, mask: Sequence[str]
    ) -> Agent:
        """Changes the fields named in `mask`. Raises InvalidField, NotFound."""
        if not 0 < len(agent_id) <= MAX_ID:
            raise InvalidField("agent.id", f"1 to {MAX_ID} characters")
        _check_mask(mask)
        if "display_name" in mask:
            check_text("agent.display_name", display_name)
            if len(display_name) > MAX_NAME:
                raise InvalidField("agent.display_name", f"over {MAX_NAME} characters")
        if "system_prompt" in mask:
            check_text("agent.system_prompt", system_prompt)
            check_size("agent.system_prompt", system_prompt, MAX_SYSTEM_PROMPT_BYTES)
        return await self._store.update(
            tenant,
            agent_id,
            display_name=display_name if "display_name" in mask else None,
            system_prompt=system_prompt if "system_prompt" in mask else None,
        )


def _check_mask(mask: Sequence[str]) -> None:
    if not mask:
        raise InvalidField("update_mask", "names nothing to change")
    for index, path in enumerate(mask):
        if path not in UPDATABLE:
            raise InvalidField(f"update_mask.paths[{index}]", f"not one of {', '.join(UPDATABLE)}")
