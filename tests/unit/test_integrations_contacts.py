"""A framework's history is that of the contact it names (SPEC S-5)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from palimpsest.errors import NotFoundError
from palimpsest.integrations.history import History, WrongContactError
from palimpsest.models import Message, Part, Role, TextPart


class Texts:
    """Messages are texts."""

    def parts(self, item: str) -> tuple[Role, list[Part]]:
        return "user", [TextPart(item)]

    def native(self, _role: Role, parts: Any) -> list[str]:
        return [part.text for part in parts]

    def dump(self, item: str) -> str:
        return item

    def load(self, text: str) -> str:
        return text


@dataclass
class Client:
    """An agent with one conversation at most; "ann" was merged into "anna"."""

    contact_id: str | None
    stored: list[str] = field(default_factory=list)
    looked: int = 0

    async def get_conversation(self, _id: str) -> Any:
        self.looked += 1
        if self.contact_id is None:
            raise NotFoundError
        return SimpleNamespace(contact_id=self.contact_id)

    async def create_conversation(self, _id: str, *, contact_id: str) -> None:
        self.contact_id = contact_id

    async def get_contact(self, contact_id: str) -> Any:
        if contact_id in ("ann", "anna"):
            return SimpleNamespace(id="anna", merged_ids=("ann",))
        return SimpleNamespace(id=contact_id, merged_ids=())

    async def put_collection(self, *_: Any) -> None:
        """There is nothing to keep beside."""

    async def record_turn(self, _id: str, messages: Any, **_fields: Any) -> None:
        self.stored += [part.text for message in messages for part in message.content]

    async def path(self, _id: str, **_fields: Any) -> AsyncIterator[Message]:
        if self.contact_id is None:
            raise NotFoundError
        for number in range(len(self.stored), 0, -1):
            yield Message(
                id=f"m{number}",
                conversation_id="c",
                sequence=number,
                parent_id=f"m{number - 1}" if number > 1 else "",
                depth=number,
                role="user",
                author="",
                session="",
                time=None,
                create_time=None,
                token_count=1,
                parts=(TextPart(self.stored[number - 1]),),
            )


def history(contact_id: str) -> History[str]:
    return History("c", Texts(), contact_id=contact_id)


CALLS: dict[str, Callable[[History[str], Any], Awaitable[Any]]] = {
    "read": lambda made, client: made.read(client),
    "newest": lambda made, client: made.read(client, 1),
    "append": lambda made, client: made.append(client, ["more"]),
    "replace": lambda made, client: made.replace(client, ["more"]),
    "pop": lambda made, client: made.pop(client),
    "clear": lambda made, client: made.clear(client),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("whose", "asking"), [("bob", "ann"), ("", "ann"), ("ann", "bob")])
async def test_another_persons_conversation_is_neither_shown_nor_changed(
    name: str, whose: str, asking: str
) -> None:
    client = Client(whose, ["a secret"])
    with pytest.raises(WrongContactError):
        await CALLS[name](history(asking), client)
    assert client.stored == ["a secret"]


@pytest.mark.parametrize(("whose", "asking"), [("ann", "ann"), ("anna", "ann"), ("ann", "anna"), ("bob", "")])
async def test_ones_own_is_also_that_of_a_contact_merged_with_it(whose: str, asking: str) -> None:
    """Who names no contact is not held to one. It is looked at once."""
    client: Any = Client(whose, ["hello"])
    made = history(asking)
    assert await made.read(client) == ["hello"]
    assert await made.read(client, 1) == ["hello"]
    assert client.looked == (1 if asking else 0)


async def test_it_is_made_for_the_contact_with_the_first_message() -> None:
    client: Any = Client(None)
    made = history("ann")
    assert await made.read(client) == []
    await made.append(client, ["hello"])
    assert (client.contact_id, await made.read(client)) == ("ann", ["hello"])
    with pytest.raises(WrongContactError):
        await history("bob").read(client)
