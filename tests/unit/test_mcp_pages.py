"""A page as a resource is for those whose words are in it alone (SPEC G-6, G-10, S-13)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from palimpsest.errors import NotFoundError
from palimpsest.mcp.place import Place
from palimpsest.mcp.resources import MOST_SOURCES, Resources

PAGE = "what Ann decided"


@dataclass
class Wiki:
    """A client of an agent with one page; conversations are with whom their names begin with."""

    sources: list[str]
    linked: list[str]
    calls: list[str] = field(default_factory=list)

    async def wiki_page(self, _branch: str) -> Any:
        return SimpleNamespace(text=PAGE, source_ids=tuple(f"{one}@3" for one in self.sources))

    async def branch_conversations(self, _branch: str) -> AsyncIterator[Any]:
        for one in self.linked:
            yield SimpleNamespace(conversation_id=one)

    async def get_conversation(self, conversation_id: str) -> Any:
        self.calls.append(conversation_id)
        person = conversation_id.split("-")[0]
        return SimpleNamespace(id=conversation_id, contact_id="" if person == "nobody" else person)

    async def get_contact(self, contact_id: str) -> Any:
        return SimpleNamespace(id=contact_id, merged_ids=())


async def read(wiki: Wiki, conversation: str = "ann-1") -> str:
    client: Any = wiki
    return await Resources(Place(client=client, conversation_id=conversation)).read("palimpsest://wiki/a")


@pytest.mark.parametrize("conversation", ["ann-1", "ann-2"])
async def test_it_is_shown_to_the_person_whom_all_of_it_came_from(conversation: str) -> None:
    wiki = Wiki(sources=["ann-1", "nobody-1"], linked=["ann-1", "ann-2", "nobody-1"])
    assert PAGE in await read(wiki, conversation)
    assert len(wiki.calls) == 4, "each conversation once, and the server's own"


@pytest.mark.parametrize("conversation", ["bob-1", "nobody-1"])
@pytest.mark.parametrize(
    ("sources", "linked"),
    [(["ann-1"], ["ann-1"]), (["ann-1", "nobody-1"], ["nobody-1"]), (["nobody-1"], ["nobody-1", "ann-1"])],
    ids=["as it was written", "until it is written again without", "until it is written again with"],
)
async def test_nobody_else_sees_it_also_while_it_lags_behind_its_branch(
    sources: list[str], linked: list[str], conversation: str
) -> None:
    with pytest.raises(NotFoundError):
        await read(Wiki(sources=sources, linked=linked), conversation)


async def test_a_page_of_very_many_conversations_is_not_given() -> None:
    linked = [f"ann-{n}" for n in range(MOST_SOURCES)]
    assert PAGE in await read(Wiki(sources=linked[:3], linked=linked))
    with pytest.raises(NotFoundError):
        await read(Wiki(sources=["ann-x"], linked=linked))
