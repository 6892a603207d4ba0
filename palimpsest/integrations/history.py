"""A conversation as a framework's list of messages, which come back exactly as they were given.

Nothing is deleted (E-4): what a framework clears, takes back or replaces stays on a branch that was left.
Where nothing follows yet, a *marker* ends the active path; it is skipped when the list is read.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Generic, Protocol, TypeVar

from palimpsest.client import AsyncClient
from palimpsest.errors import NotFoundError
from palimpsest.integrations import originals
from palimpsest.integrations.concurrent import gathered
from palimpsest.models import Message, NewMessage, Part, Role, ToolCall

ItemT = TypeVar("ItemT")

MARKER = "anew."
"""How the ids of markers begin."""
MARKER_TEXT = "(What was said after this was taken back.)"
MOST_MESSAGES = 500
"""Of one call that stores messages."""
MAX_PAGE = 1000


class WrongContactError(ValueError):
    """The conversation is with somebody else than the contact that is named, or with nobody."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


Draft = tuple[NewMessage, str | None]
"""A message and its original, if it has one."""


class Codec(Protocol[ItemT]):
    """A framework's messages in both directions."""

    def parts(self, item: ItemT) -> tuple[Role, list[Part]]:
        """What people and models read of it."""
        ...

    def native(self, role: Role, parts: Sequence[Part]) -> list[ItemT]:
        """What stands for a message that something else stored."""
        ...

    def dump(self, item: ItemT) -> str:
        """The item as JSON in ASCII. Raises ValueError for what JSON can't say."""
        ...

    def load(self, text: str) -> ItemT:
        """The item again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Generic[ItemT]):
    """A message of the active path with the items that it stands for; a marker stands for none."""

    message: Message
    items: tuple[ItemT, ...]


class History(Generic[ItemT]):
    """The active path of a conversation, which is created with the first message.

    With a contact, all calls raise WrongContactError where the conversation is another's: an id may have come
    from whom it is shown to.
    """

    def __init__(self, conversation_id: str, codec: Codec[ItemT], *, contact_id: str = "") -> None:
        self._id = conversation_id
        self._codec = codec
        self._contact_id = contact_id
        self._lock = asyncio.Lock()  # so that what one caller adds stands together
        self._ready = False
        self._checked = not contact_id

    async def read(self, client: AsyncClient, limit: int | None = None) -> list[ItemT]:
        """The items, oldest first; with a limit the newest ones. None where there is no conversation yet."""
        items = [item for kept in await self.kept(client, limit) for item in kept.items]
        return items if limit is None else items[max(len(items) - limit, 0) :]

    async def kept(self, client: AsyncClient, limit: int | None = None) -> list[Kept[ItemT]]:
        """The messages of the active path that hold the newest `limit` items, or all; oldest first."""
        path: list[Message] = []
        wanted = MAX_PAGE if limit is None else min(limit + 1, MAX_PAGE)
        if wanted <= 1:
            return []
        await self._check(client)
        try:
            async for message in client.path(self._id, newest_first=True, page_size=wanted):
                path.append(message)
                if limit is not None and sum(not is_marker(one) for one in path) >= limit:
                    break
        except NotFoundError:
            return []
        return await self.decoded(client, path[::-1])

    async def exists(self, client: AsyncClient) -> bool:
        """Whether the conversation has a message."""
        return bool(await self.kept(client, 1))

    async def decoded(self, client: AsyncClient, messages: Sequence[Message]) -> list[Kept[ItemT]]:
        """Messages with their items."""
        exact = await originals.get(
            client, self._id, [one.id for one in messages if one.id.startswith(originals.PREFIX)]
        )
        return [Kept(message=one, items=tuple(self._items(one, exact.get(one.id)))) for one in messages]

    def _items(self, message: Message, exact: str | None) -> list[ItemT]:
        if is_marker(message):
            return []
        return self._codec.native(message.role, message.parts) if exact is None else [self._codec.load(exact)]

    async def append(
        self, client: AsyncClient, items: Sequence[ItemT], names: Sequence[str | None] = ()
    ) -> None:
        """Stores items after the active path.

        An item with a name that is on the active path already, and says the same, is not stored again.
        """
        if not items:
            return
        async with self._lock:
            drafts = [self._draft(item) for item in items]
            await self._prepare(client)
            if any(names):
                drafts = await self._once(client, drafts, items, names)
            await self._store(client, drafts)

    async def replace(self, client: AsyncClient, items: Sequence[ItemT]) -> None:
        """Makes these the items of the active path, which goes on or branches off where they differ."""
        async with self._lock:
            await self._prepare(client)
            path = [one for one in await self.kept(client) if not is_marker(one.message)]
            texts = [self._codec.dump(item) for item in items]
            same, used = "", 0
            for count, one in enumerate(path):
                if [self._codec.dump(item) for item in one.items] != texts[used : used + len(one.items)]:
                    await self._branch(client, same, items[used:])
                    return
                same, used = one.message.id, used + len(one.items)
                if used == len(items) and count + 1 < len(path):
                    await self._branch(client, same, [])
                    return
            await self._store(client, [self._draft(item) for item in items[used:]])

    async def pop(self, client: AsyncClient) -> ItemT | None:
        """Takes the newest item back; None where there is none."""
        async with self._lock:
            newest = [one for one in await self.kept(client, 1) if one.items]
            if not newest:
                return None
            await self._branch(client, newest[-1].message.parent_id, newest[-1].items[:-1])
            return newest[-1].items[-1]

    async def clear(self, client: AsyncClient) -> None:
        """Begins anew at the root."""
        async with self._lock:
            if any(one.items for one in await self.kept(client, 1)):
                await self._branch(client, "", [])

    async def _prepare(self, client: AsyncClient) -> None:
        if self._ready:
            return
        await self._check(client)
        try:
            await client.get_conversation(self._id)
        except NotFoundError:
            await client.create_conversation(self._id, contact_id=self._contact_id)
        await originals.prepare(client)
        self._ready = True

    async def _check(self, client: AsyncClient) -> None:
        """Once the conversation is there: with whom it is never changes."""
        if self._checked:
            return
        try:
            conversation = await client.get_conversation(self._id)
        except NotFoundError:
            return
        if conversation.contact_id != self._contact_id:
            contact = await client.get_contact(self._contact_id)
            if conversation.contact_id not in {contact.id, *contact.merged_ids}:
                raise WrongContactError
        self._checked = True

    async def _branch(self, client: AsyncClient, parent_id: str, items: Sequence[ItemT]) -> None:
        """Lets the active path go on after a message ("": at the root) with these, or with a marker."""
        drafts = [self._draft(item) for item in items] or [_marker()]
        await self._store(client, drafts, parent_id)

    async def _store(
        self, client: AsyncClient, drafts: Sequence[Draft], parent_id: str | None = None
    ) -> None:
        """Originals first: a message whose original is not there yet is never seen."""
        exact = {message.id: text for message, text in drafts if text is not None}
        await originals.put(client, self._id, exact)
        for start in range(0, len(drafts), MOST_MESSAGES):
            messages = [message for message, _ in drafts[start : start + MOST_MESSAGES]]
            if start or parent_id is None:
                await client.record_turn(self._id, messages)
            else:
                await client.record_turn(self._id, messages, parent_id=parent_id, branch=True)

    def _draft(self, item: ItemT) -> Draft:
        """A message, and its original where the parts do not say it all."""
        role, parts = self._codec.parts(item)
        text = self._codec.dump(item)
        if self._is_told(role, parts, text):
            return NewMessage(role, parts, id=uuid.uuid4().hex), None
        return NewMessage(role, parts, id=originals.PREFIX + uuid.uuid4().hex), text

    def _is_told(self, role: Role, parts: Sequence[Part], text: str) -> bool:
        """Whether the parts alone give the item back. Calls' arguments don't: numbers become floats."""
        if any(isinstance(part, ToolCall) for part in parts):
            return False
        return [self._codec.dump(one) for one in self._codec.native(role, parts)] == [text]

    async def _once(
        self,
        client: AsyncClient,
        drafts: Sequence[Draft],
        items: Sequence[ItemT],
        names: Sequence[str | None],
    ) -> list[Draft]:
        """The drafts without what is on the active path; the others' ids follow from their names."""
        stems = [
            name and _digest(self._id, name, self._codec.dump(item))
            for item, name in zip(items, names, strict=True)
        ]
        ids = await self._ids(client, {stem for stem in stems if stem})
        kept: dict[str, Draft] = {}
        for stem, (message, text) in zip(stems, drafts, strict=True):
            message_id = ids[stem] if stem else message.id
            if message_id is not None:
                kept.setdefault(message_id, (replace(message, id=message_id), text))
        return list(kept.values())

    async def _ids(self, client: AsyncClient, stems: set[str]) -> dict[str, str | None]:
        """An id for each stem, None where one of its ids is on the active path.

        Ids that are taken on other branches are passed over. An id that somebody takes after it was looked
        for is given all the same: what is stored under it says the same, and is not stored again (E-2).
        """
        ids: dict[str, str | None] = {}
        left = sorted(stems)
        for number in count():
            taken = await gathered(self._has(client, _numbered(stem, number)) for stem in left)
            ids |= {s: _numbered(s, number) for s, found in zip(left, taken, strict=True) if not found}
            left = [stem for stem in left if stem not in ids]
            if not left:
                break
            path = {one.id async for one in client.path(self._id, page_size=MAX_PAGE)}
            ids |= {stem: None for stem in left if _numbered(stem, number) in path}
            left = [stem for stem in left if stem not in ids]
        return ids

    async def _has(self, client: AsyncClient, message_id: str) -> bool:
        try:
            await client.get_message(self._id, message_id)
        except NotFoundError:
            return False
        return True


def is_marker(message: Message) -> bool:
    """Whether it only says that something was taken back."""
    return message.id.startswith(MARKER)


def _marker() -> Draft:
    return NewMessage("system", MARKER_TEXT, id=MARKER + uuid.uuid4().hex), None


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _numbered(stem: str, number: int) -> str:
    return f"{originals.PREFIX}{stem}.{number}"
