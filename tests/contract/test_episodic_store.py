"""The stores of the Episodic service on SQLite and PostgreSQL (SPEC §5, S-5)."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.errors import Exists, LimitExceeded, NotFound, ParentConflict, StateConflict
from services.kit.sql import SqlDatabase
from services.memory.episodic.adapters.sql import sql_stores
from services.memory.episodic.adapters.sql.requests import AppendRequests
from services.memory.episodic.app.ports import Page, Stores
from services.memory.episodic.domain.append import Append, Draft
from services.memory.episodic.domain.coverage import CoverRules
from services.memory.episodic.domain.model import (
    Agent,
    Contact,
    Conversation,
    ConversationFilter,
    ConversationKey,
    MessageFilter,
    Role,
)
from services.memory.episodic.domain.parts import Text, encode

MAX_BYTES = 2000
HOUR = 3_600_000_000
KEY = ConversationKey(tenant="t", agent_id="a", id="c")
ANY = MessageFilter()
RULES = CoverRules(uncovered_messages=25, uncovered_tokens=None, fold_tokens=960)


@pytest.fixture
async def stores(episodic_sql: SqlDatabase) -> Stores:
    return await sql_stores(episodic_sql, rules=RULES, max_bytes=MAX_BYTES)


@pytest.fixture
async def ready(stores: Stores) -> Stores:
    """Tenants t and u with agent a, conversation c; t also has agent b."""
    for tenant, agent in (("t", "a"), ("u", "a"), ("t", "b")):
        await stores.agents.create(tenant, an_agent(agent))
        await stores.conversations.create(tenant, a_conversation("c", agent))
    return stores


def an_agent(id: str, name: str = "") -> Agent:
    return Agent(id=id, display_name=name, system_prompt="", create_time=1)


def a_conversation(id: str, agent: str = "a", contact: str = "", title: str = "") -> Conversation:
    return Conversation(id=id, agent_id=agent, contact_id=contact, title=title, create_time=1, update_time=1)


def a_contact(id: str, agent: str = "a") -> Contact:
    return Contact(id=id, agent_id=agent, display_name=id.upper(), create_time=1)


def draft(text: str, *, id: str = "", author: str = "", role: Role = Role.USER, time: int = 0) -> Draft:
    content = encode([Text(text=text)])
    return Draft(id=id, role=role, author=author, session="s", time=time, token_count=1, content=content)


def append(
    *drafts: Draft,
    parent: str | None = None,
    request_id: str = "",
    key: ConversationKey = KEY,
    now: int = 5,
) -> Append:
    return Append(key=key, drafts=drafts, parent_id=parent, request_id=request_id, now=now)


async def stored(stores: Stores, key: ConversationKey = KEY) -> list[tuple[int, str]]:
    page = await stores.messages.list(key, ANY, newest_first=False, limit=1000, after=None)
    return [(m.sequence, m.id) for m in page.items]


async def test_an_agent_is_created_once_and_not_over_another(stores: Stores) -> None:
    first = await stores.agents.create("t", an_agent("a", "Ada"))
    again = await stores.agents.create(
        "t", Agent(id="a", display_name="Ada", system_prompt="", create_time=9)
    )
    assert first == again == await stores.agents.get("t", "a")
    with pytest.raises(Exists):
        await stores.agents.create("t", an_agent("a", "Bob"))
    with pytest.raises(NotFound):
        await stores.agents.get("u", "a")


async def test_an_update_changes_what_is_given(stores: Stores) -> None:
    await stores.agents.create("t", an_agent("a", "Ada"))
    await stores.agents.create("u", an_agent("a", "Ada"))
    changed = await stores.agents.update("t", "a", display_name=None, system_prompt="Be kind.")
    assert (changed.display_name, changed.system_prompt) == ("Ada", "Be kind.")
    assert (await stores.agents.update("t", "a", display_name="", system_prompt=None)).display_name == ""
    assert (await stores.agents.get("u", "a")).system_prompt == ""
    with pytest.raises(NotFound):
        await stores.agents.update("t", "zz", display_name="x", system_prompt=None)


async def test_agents_are_listed_by_id_within_reach(stores: Stores) -> None:
    for id_ in ("c", "a", "b"):
        await stores.agents.create("t", an_agent(id_))
    await stores.agents.create("u", an_agent("z"))
    first = await stores.agents.list("t", None, limit=2, after=None)
    rest = await stores.agents.list("t", None, limit=2, after=first.last)
    assert [a.id for a in (*first.items, *rest.items)] == ["a", "b", "c"]
    assert rest.last is None
    some = await stores.agents.list("t", frozenset({"c", "z"}), limit=5, after=None)
    assert [a.id for a in some.items] == ["c"]


async def test_64_concurrent_resolves_make_one_contact(ready: Stores) -> None:
    """S-5."""
    answers = await asyncio.gather(
        *(ready.contacts.resolve("t", "telegram:1", a_contact(f"k{n}")) for n in range(64))
    )
    assert len({contact.id for contact, _ in answers}) == 1
    assert sum(created for _, created in answers) == 1
    other, created = await ready.contacts.resolve("u", "telegram:1", a_contact("other"))
    assert (other.id, created) == ("other", True)
    with pytest.raises(NotFound):
        await ready.contacts.resolve("t", "telegram:1", a_contact("k", "zz"))


async def people(stores: Stores, *ids: str) -> None:
    for id_ in ids:
        await stores.contacts.resolve("t", f"x:{id_}", a_contact(id_))


async def test_an_identity_belongs_to_one_contact(ready: Stores) -> None:
    await people(ready, "p", "q")
    for _ in range(2):
        linked = await ready.contacts.link("t", "a", "p", "mailto:p@example.org")
        assert linked.identities == ("x:p", "mailto:p@example.org")
    with pytest.raises(StateConflict):
        await ready.contacts.link("t", "a", "q", "mailto:p@example.org")
    with pytest.raises(NotFound):
        await ready.contacts.link("t", "a", "zz", "x:new")
    found, created = await ready.contacts.resolve("t", "mailto:p@example.org", a_contact("r"))
    assert (found.id, created) == ("p", False)


async def test_a_chain_of_merges_ends_at_the_last_and_undoing_is_exact(ready: Stores) -> None:
    await people(ready, "p", "q", "r", "s")
    before = [await ready.contacts.get("t", "a", id_) for id_ in "pqrs"]
    await ready.contacts.merge("t", "a", "p", "q")
    merged = await ready.contacts.merge("t", "a", "q", "r")
    assert (merged.id, merged.merged_ids) == ("r", ("q", "p"))
    assert set(merged.identities) == {"x:p", "x:q", "x:r"}
    assert (await ready.contacts.merge("t", "a", "s", "p")).id == "r"
    assert (await ready.contacts.get("t", "a", "p")).id == "r"
    assert (await ready.contacts.resolve("t", "x:p", a_contact("new")))[0].id == "r"
    assert [c.id for c in (await ready.contacts.list("t", "a", limit=9, after=None)).items] == ["r"]
    for id_ in "spq":
        assert (await ready.contacts.unmerge("t", "a", id_)).id == id_
    assert [await ready.contacts.get("t", "a", id_) for id_ in "pqrs"] == before


async def test_merges_that_contradict_are_refused(ready: Stores) -> None:
    await people(ready, "p", "q", "r")
    await ready.contacts.merge("t", "a", "p", "q")
    assert (await ready.contacts.merge("t", "a", "p", "q")).merged_ids == ("p",)
    for source, target in (("p", "p"), ("q", "p"), ("p", "r"), ("r", "r")):
        with pytest.raises(StateConflict):
            await ready.contacts.merge("t", "a", source, target)
    with pytest.raises(StateConflict):
        await ready.contacts.unmerge("t", "a", "q")
    for source, target in (("p", "zz"), ("zz", "p")):
        with pytest.raises(NotFound):
            await ready.contacts.merge("t", "a", source, target)


async def test_contacts_are_listed_in_pages_by_id(ready: Stores) -> None:
    await people(ready, "p", "r", "q")
    first = await ready.contacts.list("t", "a", limit=2, after=None)
    rest = await ready.contacts.list("t", "a", limit=2, after=first.last)
    assert [c.id for c in (*first.items, *rest.items)] == ["p", "q", "r"]
    assert (await ready.contacts.list("t", "b", limit=2, after=None)).items == []


async def test_a_conversation_is_created_once_and_not_over_another(ready: Stores) -> None:
    await people(ready, "p")
    first = await ready.conversations.create("t", a_conversation("d", contact="p", title="Trip"))
    assert await ready.conversations.create("t", a_conversation("d", contact="p", title="Trip")) == first
    for other in (a_conversation("d", title="Trip"), a_conversation("d", contact="p")):
        with pytest.raises(Exists):
            await ready.conversations.create("t", other)
    for unknown in (a_conversation("e", contact="zz"), a_conversation("e", "zz")):
        with pytest.raises(NotFound):
            await ready.conversations.create("t", unknown)
    with pytest.raises(NotFound):
        await ready.conversations.get(ConversationKey(tenant="t", agent_id="a", id="e"))


async def test_conversations_of_a_person_include_those_of_merged_contacts(ready: Stores) -> None:
    await people(ready, "p", "q", "r")
    for id_, contact in (("z", "p"), ("y", "q"), ("x", "r"), ("w", "p")):
        await ready.conversations.create("t", a_conversation(id_, contact=contact))
    await ready.contacts.merge("t", "a", "p", "q")

    async def listed(contact: str) -> list[str]:
        page = await listing(ready, contact, limit=9)
        return [c.id for c in page.items]

    assert await listed("q") == await listed("p") == ["z", "y", "w"]
    assert await listed("r") == ["x"]
    assert await listed("") == ["c", "z", "y", "x", "w"]
    first = await listing(ready, "q", limit=2)
    rest = await listing(ready, "q", limit=2, after=first.last)
    assert ([c.id for c in rest.items], rest.last) == (["w"], None)
    with pytest.raises(NotFound):
        await listed("zz")


async def listing(
    stores: Stores, contact: str = "", *, newest_first: bool = False, limit: int, after: int | None = None
) -> Page[Conversation, int]:
    chosen = ConversationFilter(contact_id=contact)
    return await stores.conversations.list(
        "t", "a", chosen, newest_first=newest_first, limit=limit, after=after
    )


async def test_conversations_are_listed_in_either_order_while_others_come(ready: Stores) -> None:
    """E-13."""
    for id_ in ("z", "y", "x"):
        await ready.conversations.create("t", a_conversation(id_))
    first = await listing(ready, newest_first=True, limit=2)
    await ready.conversations.create("t", a_conversation("w"))
    rest = await listing(ready, newest_first=True, limit=2, after=first.last)
    assert [c.id for c in [*first.items, *rest.items]] == ["x", "y", "z", "c"]
    assert rest.last is None
    assert [c.id for c in (await listing(ready, limit=9)).items] == ["c", "z", "y", "x", "w"]


async def test_conversations_that_changed_since_a_moment(ready: Stores) -> None:
    """E-13: those to which something was added then or later, and those that are new."""
    await ready.conversations.create("t", a_conversation("old"))
    await ready.messages.append(append(draft("m"), now=7))

    async def since(moment: int) -> list[str]:
        chosen = ConversationFilter(changed_since=moment)
        page = await ready.conversations.list("t", "a", chosen, newest_first=True, limit=9, after=None)
        return [c.id for c in page.items]

    assert await since(1) == ["old", "c"]
    assert await since(7) == ["c"]
    assert await since(8) == []


async def test_messages_get_dense_numbers_and_their_parents(ready: Stores) -> None:
    """E-1, E-2."""
    one = await ready.messages.append(append(draft("a", author="Ann"), draft("b", author="Bob")))
    two = await ready.messages.append(append(draft("b", author="Ann"), now=9))
    assert [o.sequence for o in (*one, *two)] == [1, 2, 3]
    page = await ready.messages.list(KEY, ANY, newest_first=False, limit=9, after=None)
    ids = [m.id for m in page.items]
    assert [m.parent_id for m in page.items] == ["", ids[0], ids[1]]
    conversation = await ready.conversations.get(KEY)
    assert (conversation.stored_count, conversation.leaf_id) == (3, ids[2])
    assert (conversation.authors, conversation.update_time) == (("Ann", "Bob"), 9)


async def test_one_tenant_agent_or_conversation_never_sees_anothers(ready: Stores) -> None:
    await ready.messages.append(append(draft("a", id="m")))
    for other in (
        ConversationKey(tenant="u", agent_id="a", id="c"),
        ConversationKey(tenant="t", agent_id="b", id="c"),
    ):
        assert await stored(ready, other) == []
        found = await ready.messages.find(other.tenant, other.agent_id, [("c", "m")], 0)
        assert found == [None]
        assert (await ready.messages.at(other, [1]))[1] == []
    assert await stored(ready) == [(1, "m")]


@pytest.mark.parametrize("unknown", [("t", "a", "zz"), ("t", "zz", "c"), ("zz", "a", "c")])
async def test_an_unknown_conversation_is_not_found(ready: Stores, unknown: tuple[str, str, str]) -> None:
    key = ConversationKey(tenant=unknown[0], agent_id=unknown[1], id=unknown[2])
    with pytest.raises(NotFound):
        await ready.messages.append(append(draft("a"), key=key))
    with pytest.raises(NotFound):
        await stored(ready, key)
    with pytest.raises(NotFound):
        await ready.messages.at(key, [1])
    with pytest.raises(NotFound):
        await ready.history.view(key, "", lambda _: False, most=10)


@pytest.mark.parametrize("how", ["request id", "parent", "own id"])
async def test_64_identical_appends_leave_one_row(ready: Stores, how: str) -> None:
    """E-2."""
    wanted = {
        "request id": append(draft("a"), request_id="r"),
        "parent": append(draft("a"), parent=""),
        "own id": append(draft("a", id="m")),
    }[how]
    answers = await asyncio.gather(*(ready.messages.append(wanted) for _ in range(64)))
    assert len(await stored(ready)) == 1
    assert len({answer[0].message_id for answer in answers}) == 1
    plain = await asyncio.gather(*(ready.messages.append(append(draft("a"))) for _ in range(64)))
    assert sorted(answer[0].sequence for answer in plain) == list(range(2, 66))


async def test_a_request_id_returns_the_first_answer_even_after_other_appends(ready: Stores) -> None:
    wanted = append(draft("a"), draft("b"), request_id="r")
    first = await ready.messages.append(wanted)
    await ready.messages.append(append(draft("c")))
    assert await ready.messages.append(wanted) == first
    assert all(outcome.created for outcome in first)
    with pytest.raises(Exists) as caught:
        await ready.messages.append(append(draft("other"), request_id="r"))
    assert [p.field for p in caught.value.fields] == ["request_id"]
    assert len(await stored(ready)) == 3


async def test_request_ids_are_forgotten_in_time(ready: Stores, episodic_sql: SqlDatabase) -> None:
    await ready.messages.append(append(draft("a"), request_id="r", now=5))
    await ready.messages.append(append(draft("b"), request_id="s", now=6 + HOUR))
    requests = AppendRequests(episodic_sql, HOUR)
    assert [await requests.delete_expired(6 + HOUR, 10) for _ in range(2)] == [1, 0]
    assert (await ready.messages.append(append(draft("a"), request_id="r")))[0].sequence == 3
    assert (await ready.messages.append(append(draft("b"), request_id="s")))[0].sequence == 2


async def test_a_refused_append_changes_nothing(ready: Stores) -> None:
    """X-1."""
    await ready.messages.append(append(draft("a", id="m"), draft("b", id="n")))
    before = await ready.conversations.get(KEY)
    with pytest.raises(ParentConflict):
        await ready.messages.append(append(draft("c"), parent="zz", request_id="r"))
    with pytest.raises(Exists):
        await ready.messages.append(append(draft("d"), draft("other", id="m"), request_id="r"))
    assert await ready.conversations.get(KEY) == before
    assert await stored(ready) == [(1, "m"), (2, "n")]
    assert (await ready.messages.append(append(draft("c"), request_id="r")))[0].sequence == 3


async def test_messages_are_listed_in_either_order_while_others_are_stored(ready: Stores) -> None:
    """E-13."""
    await ready.messages.append(append(*(draft(str(n)) for n in range(5))))
    for newest_first, expected in ((False, [1, 2, 3, 4, 5, 6]), (True, [6, 5, 4, 3, 2, 1])):
        seen: list[int] = []
        after: int | None = None
        while True:
            page = await ready.messages.list(KEY, ANY, newest_first=newest_first, limit=2, after=after)
            seen.extend(m.sequence for m in page.items)
            if page.last is None:
                break
            after = page.last
            if len(seen) == 2 and not newest_first:
                await ready.messages.append(append(draft("late")))
            if len(seen) == 2 and newest_first:
                await ready.messages.append(append(draft("later")))
        assert seen == expected


async def test_messages_are_filtered_by_role_author_and_time(ready: Stores) -> None:
    await ready.messages.append(
        append(
            draft("a", author="Ann", time=10),
            draft("b", author="Bob", time=20),
            draft("c", author="Ann", role=Role.ASSISTANT, time=30),
        )
    )

    async def listed(wanted: MessageFilter) -> list[int]:
        page = await ready.messages.list(KEY, wanted, newest_first=False, limit=9, after=None)
        return [m.sequence for m in page.items]

    assert await listed(MessageFilter(authors=frozenset({"Ann"}))) == [1, 3]
    assert await listed(MessageFilter(roles=frozenset({Role.USER}))) == [1, 2]
    assert await listed(MessageFilter(authors=frozenset({"Ann"}), roles=frozenset({Role.USER}))) == [1]
    assert await listed(MessageFilter(start=20)) == [2, 3]
    assert await listed(MessageFilter(start=10, end=20)) == [1]


async def test_messages_are_found_with_their_neighbours(ready: Stores) -> None:
    await ready.messages.append(append(*(draft(str(n), id=f"m{n}") for n in range(1, 6))))
    found = await ready.messages.find("t", "a", [("c", "m3"), ("c", "zz"), ("zz", "m1"), ("c", "m1")], 1)
    assert [None if f is None else f.message.id for f in found] == ["m3", None, None, "m1"]
    middle, first = found[0], found[3]
    assert middle is not None
    assert first is not None
    assert ([m.id for m in middle.before], [m.id for m in middle.after]) == (["m2"], ["m4"])
    assert ([m.id for m in first.before], [m.id for m in first.after]) == ([], ["m2"])
    with pytest.raises(NotFound):
        await ready.messages.find("t", "zz", [("c", "m1")], 0)


async def test_messages_at_sequence_numbers(ready: Stores) -> None:
    await ready.messages.append(append(*(draft(str(n)) for n in range(3))))
    conversation, messages = await ready.messages.at(KEY, [3, 1, 3, 99, 2**62])
    assert [m.sequence for m in messages] == [1, 3]
    assert conversation.stored_count == 3


async def test_answers_stay_below_their_size(ready: Stores) -> None:
    """X-2: a page is shortened, other answers are refused."""
    await ready.messages.append(append(*(draft("x" * 900, id=f"m{n}") for n in range(4))))
    page = await ready.messages.list(KEY, ANY, newest_first=False, limit=9, after=None)
    assert ([m.sequence for m in page.items], page.last) == ([1, 2], 2)
    assert len((await ready.messages.at(KEY, [1, 2]))[1]) == 2
    with pytest.raises(LimitExceeded):
        await ready.messages.at(KEY, [1, 2, 3])
    with pytest.raises(LimitExceeded):
        await ready.messages.find("t", "a", [("c", "m1")], 2)
