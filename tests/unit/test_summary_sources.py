"""Where summaries get messages and vectors from, with services that do as told (SPEC J-6, J-16)."""

from __future__ import annotations

import struct
from typing import Any, cast

import pytest
from palimpsest.common.v1 import resources_pb2
from palimpsest.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.history.v1 import history_pb2, history_pb2_grpc

from services.compactor.adapters.conversation_paths import BEFORE, MOST_MESSAGES, PAGE, EpisodicPaths
from services.compactor.adapters.embeddings import AT_ONCE, EmbedderEmbeddings
from services.compactor.app.summary_ports import Stretch
from services.compactor.domain.rolling import Reached
from services.compactor.domain.turning import BLOCK
from services.kit.errors import DependencyDown, Internal, NotFound, Overloaded, PalimpsestError


class Episodic:
    """A path of messages m1, m2, …; of the branch `branch` from depth `fork` on."""

    def __init__(self, depth: int, *, branch: str = "m", fork: int = 0) -> None:
        self.depth, self.branch, self.fork = depth, branch, fork
        self.pages = 0

    async def GetConversation(self, request: Any) -> Any:
        if request.conversation_id != "c":
            raise NotFound("conversation", request.conversation_id)
        return episodic_pb2.GetConversationResponse(
            conversation=resources_pb2.Conversation(id="c", title="billing")
        )

    async def ListPath(self, request: history_pb2.ListPathRequest) -> history_pb2.ListPathResponse:
        self.pages += 1
        if not request.newest_first:
            first = int(request.page_token or request.after_depth + 1)
            last = min(self.depth, first + request.page_size - 1)
            return history_pb2.ListPathResponse(
                messages=[self._message(depth) for depth in range(first, last + 1)],
                next_page_token=str(last + 1) if last < self.depth else "",
            )
        last = int(request.page_token or self.depth)
        first = max(1, last - request.page_size + 1)
        return history_pb2.ListPathResponse(
            messages=[self._message(depth) for depth in range(last, first - 1, -1)],
            next_page_token=str(first - 1) if first > 1 else "",
        )

    def _message(self, depth: int) -> resources_pb2.Message:
        name = self.branch if depth > self.fork else "m"
        message = resources_pb2.Message(
            id=f"{name}{depth}", sequence=depth, depth=depth, token_count=10, role=resources_pb2.ROLE_USER
        )
        message.parts.add().text = f"text \x00{depth}"
        return message


async def after(episodic: Episodic, reached: Reached) -> Stretch:
    paths = EpisodicPaths(
        cast("episodic_pb2_grpc.EpisodicServiceAsyncStub", episodic),
        cast("history_pb2_grpc.HistoryServiceAsyncStub", episodic),
    )
    return await paths.after("a", "c", reached)


async def test_only_what_is_new_is_read_with_a_little_before_it() -> None:
    episodic = Episodic(depth=1_000)
    found = await after(episodic, Reached(message_id="m990", sequence=990, depth=990))
    assert [one.message_id for one in found.messages] == [f"m{n}" for n in range(991, 1_001)]
    assert [one.message_id for one in found.before] == [f"m{n}" for n in range(985, 991)]
    assert len(found.before) == BEFORE
    assert (found.title, found.follows, found.tokens) == ("billing", True, 100)
    assert (found.reached.message_id, found.reached.depth) == ("m1000", 1_000)
    assert episodic.pages == 1
    assert found.messages[0].said.text == "text  991", "without what no document keeps"


@pytest.mark.parametrize(("depth", "first"), [(990, 985), (991, 985), (992, 985), (993, 988)])
async def test_what_is_before_begins_with_a_block_of_the_path(depth: int, first: int) -> None:
    """J-7: blocks are those of last time, so that their vectors may be known."""
    found = await after(Episodic(depth=1_000), Reached(message_id=f"m{depth}", sequence=depth, depth=depth))
    assert [one.sequence for one in found.before] == list(range(first, depth + 1))
    assert (found.before[0].sequence - 1) % BLOCK == 0


async def test_everything_is_read_the_first_time() -> None:
    episodic = Episodic(depth=PAGE * 2 + 1)
    found = await after(episodic, Reached())
    assert [one.sequence for one in found.messages] == list(range(1, PAGE * 2 + 2))
    assert found.follows
    assert not found.before


async def test_nothing_new_is_nothing_and_the_place_stays() -> None:
    at = Reached(message_id="m30", sequence=30, depth=30)
    found = await after(Episodic(depth=30), at)
    assert (list(found.messages), found.reached, found.follows) == ([], at, True)
    assert not (await after(Episodic(depth=0), Reached())).messages


@pytest.mark.parametrize("depth", [25, 40])
async def test_a_place_on_another_branch_is_noticed(depth: int) -> None:
    """E-3: whether the active path is shorter or longer than what was summed up."""
    at = Reached(message_id="m30", sequence=30, depth=30)
    found = await after(Episodic(depth=depth, branch="b", fork=20), at)
    assert not found.follows
    assert [one.sequence for one in found.messages] == list(range(1, depth + 1))
    assert (await after(Episodic(depth=40), at)).follows


async def test_of_a_very_long_conversation_the_newest_messages_are_read() -> None:
    found = await after(Episodic(depth=MOST_MESSAGES + 50), Reached())
    assert len(found.messages) == MOST_MESSAGES
    assert found.messages[0].sequence == 51


async def test_a_summary_goes_on_in_steps_however_much_is_new() -> None:
    """J-5: what lies between is not left out, and no call reads all of it."""
    episodic = Episodic(depth=MOST_MESSAGES + 90)
    at = Reached(message_id="m30", sequence=30, depth=30)
    found = await after(episodic, at)
    assert (found.follows, found.more, len(found.messages)) == (True, True, MOST_MESSAGES)
    assert (found.messages[0].sequence, found.reached.depth) == (31, MOST_MESSAGES + 30)
    rest = await after(episodic, found.reached)
    assert (rest.follows, rest.more, len(rest.messages)) == (True, False, 60)


async def test_it_is_known_whether_a_path_holds_a_message() -> None:
    """E-3."""

    async def holds(episodic: Episodic, depth: int) -> bool:
        paths = EpisodicPaths(
            cast("episodic_pb2_grpc.EpisodicServiceAsyncStub", episodic),
            cast("history_pb2_grpc.HistoryServiceAsyncStub", episodic),
        )
        return await paths.holds("a", "c", Reached(message_id=f"m{depth}", sequence=depth, depth=depth))

    assert await holds(Episodic(depth=40), 30)
    assert await holds(Episodic(depth=40, branch="b", fork=20), 20)
    assert not await holds(Episodic(depth=40, branch="b", fork=20), 30)
    assert not await holds(Episodic(depth=20), 30)


class Embedder:
    """Vectors of the text's length; fails with `error`, or forgets one."""

    def __init__(self, error: PalimpsestError | None = None, *, short: bool = False) -> None:
        self.error, self.short = error, short
        self.calls: list[int] = []

    async def Embed(self, request: embedder_pb2.EmbedRequest) -> embedder_pb2.EmbedResponse:
        self.calls.append(len(request.texts))
        if self.error:
            raise self.error
        vectors = [
            embedder_pb2.Embedding(text_index=n, vector=struct.pack("<2f", float(len(text)), 0.0))
            for n, text in enumerate(request.texts)
        ]
        return embedder_pb2.EmbedResponse(embeddings=vectors[self.short :], dimension=2, revision="r")


def embeddings(embedder: Embedder) -> EmbedderEmbeddings:
    return EmbedderEmbeddings(cast("embedder_pb2_grpc.EmbedderServiceAsyncStub", embedder))


async def test_each_text_has_its_vector_however_many_there_are() -> None:
    embedder = Embedder()
    texts = ["x" * n for n in range(1, AT_ONCE + 3)]
    found = await embeddings(embedder).vectors(texts)
    assert {text: vector[0] for text, vector in found.items()} == {text: float(len(text)) for text in texts}
    assert embedder.calls == [AT_ONCE, 2]


@pytest.mark.parametrize("error", [DependencyDown(), Overloaded()])
async def test_an_embedder_that_is_away_is_done_without(error: PalimpsestError) -> None:
    assert await embeddings(Embedder(error)).vectors(["a"]) == {}
    assert await embeddings(Embedder(short=True)).vectors(["a", "b"]) == {}
    assert await embeddings(Embedder()).vectors(["a"]) != {}


async def test_an_error_that_is_no_outage_is_not_hidden() -> None:
    with pytest.raises(Internal):
        await embeddings(Embedder(Internal())).vectors(["a"])
