"""A conversation in the stores, its messages named by words, for the tests of histories."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.sql import SqlDatabase, fetch
from services.memory.episodic.adapters.sql import sql_stores
from services.memory.episodic.app.ports import Branch, NewOverlay, Stores
from services.memory.episodic.domain.append import Append, Draft, Outcome
from services.memory.episodic.domain.coverage import CoverRules
from services.memory.episodic.domain.model import (
    Agent,
    Contact,
    Conversation,
    ConversationKey,
    Overlay,
    Role,
)
from services.memory.episodic.domain.parts import Text, encode

MAX_BYTES = 20_000
KEY = ConversationKey(tenant="t", agent_id="a", id="c")
RULES = CoverRules(uncovered_messages=25, uncovered_tokens=None, fold_tokens=100)


async def prepared(database: SqlDatabase, rules: CoverRules = RULES) -> Stores:
    """Tenant t with agents a and b, a contact p, conversations c (with p) and d."""
    stores = await sql_stores(database, rules=rules, max_bytes=MAX_BYTES)
    for agent in ("a", "b"):
        await stores.agents.create("t", Agent(id=agent, display_name="", system_prompt="", create_time=1))
    person = Contact(id="p", agent_id="a", display_name="", create_time=1)
    await stores.contacts.resolve("t", "x:p", person)
    await stores.conversations.create("t", conversation("c", contact="p"))
    await stores.conversations.create("t", conversation("d"))
    return stores


def conversation(id: str, *, contact: str = "", title: str = "") -> Conversation:
    return Conversation(id=id, agent_id="a", contact_id=contact, title=title, create_time=1, update_time=1)


def draft(text: str = "", id: str = "", *, author: str = "", tokens: int = 1) -> Draft:
    content = encode([Text(text=text or id)])
    return Draft(
        id=id, role=Role.USER, author=author, session="s", time=7, token_count=tokens, content=content
    )


def append(
    *drafts: Draft,
    after: str | None = None,
    branch: bool = False,
    request_id: str = "",
    key: ConversationKey = KEY,
) -> Append:
    return Append(key=key, drafts=drafts, parent_id=after, request_id=request_id, now=5, branch=branch)


async def say(
    stores: Stores, ids: str, *, after: str | None = None, branch: bool = False
) -> tuple[Outcome, ...]:
    """Appends a message for each word, which is its id and its text."""
    drafts = [draft(id=id_, author=id_[0]) for id_ in ids.split()]
    return await stores.messages.append(append(*drafts, after=after, branch=branch))


async def say_many(stores: Stores, count: int, *, prefix: str = "m", start: int = 1) -> None:
    await say(stores, " ".join(f"{prefix}{n}" for n in range(start, start + count)))


async def path(stores: Stores, leaf: str = "", key: ConversationKey = KEY) -> list[str]:
    page = await stores.history.path(key, leaf, newest_first=False, limit=1000, after=None)
    assert page.last is None
    assert [m.depth for m in page.items] == list(range(1, len(page.items) + 1))
    return [m.id for m in page.items]


async def overlay(
    stores: Stores, first: str, last: str, id: str = "", *, folds: Sequence[str] = (), tokens: int = 1
) -> Overlay:
    new = NewOverlay(
        id=id or f"{first}-{last}",
        from_id=first,
        to_id=last,
        summary=f"from {first} to {last}",
        token_count=tokens,
        model="test",
        folds=tuple(folds),
    )
    return await stores.history.put_overlay(KEY, new, 9)


async def shown(stores: Stores, leaf: str = "", *, superseded: bool = False) -> list[str]:
    page = await stores.history.overlays(KEY, leaf, superseded=superseded, limit=1000, after=None)
    return [one.id for one in page.items]


async def jobs(database: SqlDatabase, type_: str) -> list[str]:
    """The keys of the jobs of a type in the outbox."""
    rows = await database.read(
        lambda: fetch("SELECT key FROM outbox WHERE tenant = ? AND type = ? ORDER BY id", "t", type_)
    )
    return [row["key"] for row in rows]


async def branches(stores: Stores, message_id: str = "") -> list[tuple[str, str, int, bool]]:
    def plain(one: Branch) -> tuple[str, str, int, bool]:
        return one.first.id, one.leaf.id, one.leaf.depth, one.active

    page = await stores.history.branches(KEY, message_id, limit=1000, after=None)
    assert page.last is None
    return [plain(one) for one in page.items]


async def view(stores: Stores, leaf: str = "") -> list[str]:
    """The overlays that a window of a path has to choose from."""
    return [one.id for one in (await stores.history.view(KEY, leaf, lambda _: True, most=10)).overlays]
