"""From messages to memories: what people state is read and written to Semantic (SPEC J-8, J-9)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from palimpsest.common.v1 import resources_pb2
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2, semantic_pb2_grpc

from services.compactor.app.engines import About
from services.compactor.app.extracting import Extractor
from services.compactor.domain.extraction.facts import Category, Fact, Turn
from services.compactor.domain.extraction.grammar import durable
from services.kit.errors import DependencyDown, Exists, Overloaded, PalimpsestError
from services.kit.times import Clock, from_timestamp, to_timestamp

TASK_LIFETIME = timedelta(days=7)
"""S-3: a task that was said longer ago is over."""
DIGEST_BYTES = 16
_NOBODY = frozenset({"", "user", "the user", "human", "me", "you", "guest", "anonymous"})
"""Authors that name nobody, in small letters."""
_TYPES = {
    Category.IDENTITY: resources_pb2.FACT_TYPE_IDENTITY,
    Category.LOCATION: resources_pb2.FACT_TYPE_FACT,
    Category.PREFERENCE: resources_pb2.FACT_TYPE_PREFERENCE,
    Category.RELATIONSHIP: resources_pb2.FACT_TYPE_RELATIONSHIP,
    Category.EVENT: resources_pb2.FACT_TYPE_EVENT,
    Category.DECISION: resources_pb2.FACT_TYPE_DECISION,
    Category.INSTRUCTION: resources_pb2.FACT_TYPE_INSTRUCTION,
    Category.TASK: resources_pb2.FACT_TYPE_TASK,
    Category.FACT: resources_pb2.FACT_TYPE_FACT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A fact and the message that states it."""

    fact: Fact
    message: resources_pb2.Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The ids of the memories that messages told of, oldest first, and what read them, if anything did."""

    ids: tuple[str, ...] = ()
    engine: str = ""


class FactWriter:
    """Reads messages of one conversation and remembers what they state, in its contact's bucket."""

    def __init__(
        self,
        episodic: episodic_pb2_grpc.EpisodicServiceAsyncStub,
        semantic: semantic_pb2_grpc.SemanticServiceAsyncStub,
        extractor: Extractor,
        clock: Clock,
    ) -> None:
        self._episodic = episodic
        self._semantic = semantic
        self._extractor = extractor
        self._clock = clock
        self._log = structlog.get_logger("worker")

    async def after_turn(
        self,
        about: About,
        conversation: resources_pb2.Conversation,
        messages: Sequence[resources_pb2.Message],
    ) -> Kept:
        """Keeps what messages just stored told of (J-8). Raises NotFound, DependencyDown, Overloaded."""
        contact = await self._contact(conversation)
        found, engine = await self._read(about, contact, messages)
        ids = await self._write(conversation, contact, found, resources_pb2.MEMORY_SOURCE_TURN)
        return Kept(ids=ids, engine=engine)

    async def flush(self, about: About, messages: Sequence[resources_pb2.Message]) -> str:
        """The same for the few facts that outlast a range about to be covered (J-9); what read them.

        What fails is logged and left: a range is covered though its facts could not be kept, for its messages
        are still there. Raises DependencyDown, Overloaded.
        """
        try:
            return await self._flush(about, messages)
        except (DependencyDown, Overloaded):
            raise
        except PalimpsestError as error:
            self._log.warning("flush_failed", reason=error.reason)
            return ""

    async def _flush(self, about: About, messages: Sequence[resources_pb2.Message]) -> str:
        request = episodic_pb2.GetConversationRequest(
            agent_id=about.agent_id, conversation_id=about.conversation_id
        )
        conversation = (await self._episodic.GetConversation(request)).conversation
        contact = await self._contact(conversation)
        found, engine = await self._read(about, contact, messages)
        kept = {id(fact) for fact in durable([one.fact for one in found])}
        lasting = [one for one in found if id(one.fact) in kept]
        await self._write(conversation, contact, lasting, resources_pb2.MEMORY_SOURCE_PRE_COMPACTION)
        return engine

    async def _contact(self, conversation: resources_pb2.Conversation) -> resources_pb2.Contact:
        if not conversation.contact_id:
            return resources_pb2.Contact()
        request = episodic_pb2.GetContactRequest(
            agent_id=conversation.agent_id, contact_id=conversation.contact_id
        )
        return (await self._episodic.GetContact(request)).contact

    async def _read(
        self, about: About, contact: resources_pb2.Contact, messages: Sequence[resources_pb2.Message]
    ) -> tuple[list[Found], str]:
        said = [message for message in messages if message.role == resources_pb2.ROLE_USER]
        turns = [turn_of(message, contact.display_name) for message in said]
        read = await self._extractor.extract(about, turns)
        found = [
            Found(fact=fact, message=message)
            for message, told in zip(said, read.facts, strict=True)
            for fact in told
            if not self._is_over(fact, message)
        ]
        return found, read.engine

    def _is_over(self, fact: Fact, message: resources_pb2.Message) -> bool:
        """Whether a task was said so long ago, as in an imported transcript, that it has expired."""
        return fact.category is Category.TASK and said_at(message) + TASK_LIFETIME <= self._clock()

    async def _write(
        self,
        conversation: resources_pb2.Conversation,
        contact: resources_pb2.Contact,
        found: Sequence[Found],
        source: resources_pb2.MemorySource.ValueType,
    ) -> tuple[str, ...]:
        ids = [contact.id, *contact.merged_ids] if contact.id else []
        scope = semantic_pb2.Scope(agent_id=conversation.agent_id, contact_ids=ids)
        written: dict[str, None] = {}
        for one in found:
            try:
                response = await self._semantic.Remember(remembering(scope, conversation.id, one, source))
            except Exists:
                continue  # told before, and replaced or forgotten since
            written[response.memory.id] = None
        return tuple(written)


def remembering(
    scope: semantic_pb2.Scope,
    conversation_id: str,
    found: Found,
    source: resources_pb2.MemorySource.ValueType,
) -> semantic_pb2.RememberRequest:
    """What is asked of Semantic; the same for the same fact of the same message."""
    fact, message = found.fact, found.message
    ref = resources_pb2.MessageRef(conversation_id=conversation_id, message_id=message.id)
    return semantic_pb2.RememberRequest(
        scope=scope,
        key=fact.key,
        value=fact.value,
        fact_type=_TYPES[fact.category],
        provenance=[ref],
        valid_from_time=to_timestamp(said_at(message)),
        request_id=request_id(conversation_id, message.id, fact.key),
        source=source,
    )


def request_id(conversation_id: str, message_id: str, key: str) -> str:
    """The same whichever job finds the fact."""
    named = "\0".join((conversation_id, message_id, key)).encode("utf-8")
    return f"extract:{hashlib.blake2b(named, digest_size=DIGEST_BYTES).hexdigest()}"


def turn_of(message: resources_pb2.Message, contact_name: str) -> Turn:
    """What a message says by itself: its text parts, without attachments, calls and results of tools.

    Its author is the contact when nobody else is named.
    """
    author, known = " ".join(message.author.split()), " ".join(contact_name.split())
    unnamed = author.casefold() in _NOBODY
    return Turn(
        author=known if unnamed else author,
        text="\n".join(part.text for part in message.parts if part.WhichOneof("kind") == "text"),
        said=said_at(message),
        owner=unnamed or author.casefold() == known.casefold(),
    )


def said_at(message: resources_pb2.Message) -> datetime:
    """When it was said, by a clock that was not ahead of the store's."""
    stored = from_timestamp(message.create_time)
    return min(from_timestamp(message.time), stored) if message.HasField("time") else stored
