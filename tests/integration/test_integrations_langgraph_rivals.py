"""The LangGraph store, where two processes write one key at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from langgraph.store.base import PutOp

import palimpsest
from palimpsest.integrations.langgraph import PalimpsestStore
from tests.integration.framework_suite import FrameworkSuite, framework_suite

USER = ("users", "marta")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrameworkSuite]:
    with framework_suite(tmp_path_factory.mktemp("suite") / "data") as made:
        yield made


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    return count()


class Held(palimpsest.AsyncClient):
    """Whose next call of a kind waits, right before it is made, until it is let go."""

    def hold(self, name: str) -> tuple[asyncio.Event, asyncio.Event]:
        """Events: the call is about to be made; it may be."""
        reached, let_go = asyncio.Event(), asyncio.Event()
        call = getattr(self, name)

        async def held(*args: Any, **kwargs: Any) -> Any:
            delattr(self, name)  # the next one is the class's again
            reached.set()
            await let_go.wait()
            return await call(*args, **kwargs)

        setattr(self, name, held)
        return reached, let_go


def put(text: str | None, *fields: str, index: bool = True, **others: str) -> PutOp:
    """A write of one key, None for its deletion; `fields` are indexed, if any are named."""
    value = None if text is None else {"text": text, **others}
    return PutOp(USER, "k", value, (list(fields) or None) if index else False)


def wholly(theirs: PutOp) -> tuple[str | None, PutOp]:
    """A write of the other process that is done while ours is held."""
    return None, theirs


def unremembered(theirs: PutOp) -> tuple[str | None, PutOp]:
    """One that has put its record before ours began, and makes its memory while ours is held."""
    return "remember", theirs


RIVALS = {
    "a delete before the memory": ("remember", put("a canoe"), wholly(put(None)), None, []),
    "a put before the memory": (
        *("remember", put("a canoe"), wholly(put("a kayak"))),
        *("a kayak", ["a kayak"]),
    ),
    "a put of other fields before the memory": (
        *("remember", put("a canoe"), wholly(put("a kayak", "by", by="Nils"))),
        *("a kayak", ["Nils"]),
    ),
    "a put without index before the memory": (
        *("remember", put("a canoe"), wholly(put("a kayak", index=False))),
        *("a kayak", []),
    ),
    "a put before the record goes": ("delete_record", put(None), wholly(put("a kayak")), None, []),
    "a put before one without index": (
        *("put_record", put("a canoe", index=False), wholly(put("a kayak"))),
        *("a canoe", []),
    ),
    "a memory before the record goes": ("delete_record", put(None), unremembered(put("a kayak")), None, []),
    "a memory before a put without index": (
        *("put_record", put("a canoe", index=False), unremembered(put("a kayak"))),
        *("a canoe", []),
    ),
}
"""Where a write is held, the write, what another process writes meanwhile; the record and memory then."""


@pytest.mark.parametrize(("held", "ours", "theirs", "stays", "remembered"), RIVALS.values(), ids=RIVALS)
async def test_the_memory_is_that_of_the_record_whoever_else_writes_meanwhile(
    suite: FrameworkSuite,
    numbers: Iterator[int],
    held: str,
    ours: PutOp,
    theirs: tuple[str | None, PutOp],
    stays: str | None,
    remembered: list[str],
) -> None:
    async with (
        Held(suite.target, api_key=suite.key, agent="rivals") as client,
        Held(suite.target, api_key=suite.key, agent="rivals") as rival,
    ):
        await client.create_agent()
        collection = f"store-{next(numbers)}"
        one, other = [PalimpsestStore(each, collection=collection) for each in (client, rival)]
        await one.abatch([put("a raft")])
        async with asyncio.timeout(20), asyncio.TaskGroup() as writers:
            held_there, their_write = theirs
            go_on = asyncio.Event()
            if held_there is not None:
                begun, go_on = rival.hold(held_there)
                their_writing = writers.create_task(other.abatch([their_write]))
                await begun.wait()
            reached, let_go = client.hold(held)
            writers.create_task(one.abatch([ours]))
            await reached.wait()
            if held_there is None:
                their_writing = writers.create_task(other.abatch([their_write]))
            go_on.set()
            await their_writing
            let_go.set()
        record = await one.aget(USER, "k")
        assert (record and record.value["text"]) == stays
        found = [
            memory.value
            for contact in [each async for each in client.contacts()]
            async for memory in client.memories(contact_id=contact.id, key_prefix=one._memory_key(""))
        ]
        assert found == remembered
