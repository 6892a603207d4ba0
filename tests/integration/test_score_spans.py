"""The network that scores stretches of a text, alone and over the wire (SPEC J-8)."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto
from palimpsest.embedder.v1 import embedder_pb2 as pb
from palimpsest.embedder.v1 import embedder_pb2_grpc

from services.embedder.adapters.span_reader import NOTHING, READER_FILE, SpanReader
from services.embedder.bootstrap import build, default_model_dir
from services.embedder.config import EmbedderSettings
from services.embedder.domain.spans import Span, SpannedText, SpanScore
from services.kit.context import act_as
from services.kit.errors import DependencyDown, PalimpsestError, Reason, StartupError
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.inprocess import InProcessServer
from services.kit.metrics import Metrics
from services.kit.serving import interceptor, outgoing

SECRET = b"a secret of the tests, 32 bytes or more"
MOST_BYTES = 4 << 20
NEAR = 0.05  # on the whole: in int8 activations are scaled over the batch
SAME = 1e-5


@pytest.fixture
async def reader() -> AsyncIterator[SpanReader]:
    made = SpanReader(default_model_dir())
    yield made
    await made.close()


def span(start: int, end: int, form: int = 0, support: int = 0, asked: bool = False) -> Span:
    return Span(start=start, end=end, form=form, support=support, asked=asked)


def spanned(text: str, *stretches: str, form: int = 0, support: int = 0, asked: bool = False) -> SpannedText:
    """A text with stretches, each where it stands first."""
    places = ((text.index(one), text.index(one) + len(one)) for one in stretches)
    return SpannedText(
        text=text, spans=tuple(span(start, end, form, support, asked) for start, end in places)
    )


def values(texts: Sequence[Sequence[SpanScore]]) -> list[float]:
    """All in a row."""
    return [value for scores in texts for one in scores for value in (*one.kinds, *one.categories)]


OSLO = spanned("I live in Oslo.", "I live in Oslo")
TEXTS = [
    OSLO,
    spanned("My sister Ann works at a bank.", "My sister Ann", "My sister Ann works", "at a bank", form=1),
    spanned("Hm."),
    spanned("I met Bob yesterday 🙂 and I have to call Ann.", "I met Bob yesterday", "I have to call Ann"),
    spanned("我住在柏林", "我住在柏林", form=7, support=2),
    *(spanned(f"{'So it goes. ' * n}I love tea.", "I love tea", "I love") for n in range(1, 8)),
]


@pytest.mark.parametrize("form", range(16))
async def test_scores_are_probabilities(reader: SpanReader, form: int) -> None:
    """Of four kinds and of none, and of nine categories."""
    texts = [
        spanned(
            "I live in Oslo, ok?", "I live in Oslo", "in Oslo", "ok", form=form, support=support, asked=asked
        )
        for support in (0, 1, 19)
        for asked in (False, True)
    ]
    scores = [one for text in await reader.score(texts) for one in text]
    assert len(scores) == 3 * len(texts)
    for one in scores:
        assert (len(one.kinds), len(one.categories)) == (4, 9)
        assert all(0 <= value <= 1 for value in (*one.kinds, *one.categories))
        assert 0 < sum(one.kinds) <= 1 + 1e-5
        assert sum(one.categories) == pytest.approx(1, abs=1e-5)


async def test_a_statement_is_likelier_than_a_question(reader: SpanReader) -> None:
    question = spanned("Could I live in Oslo?", "I live in Oslo", asked=True)
    [[stated], [asked]] = await reader.score([OSLO, question])
    assert sum(stated.kinds) > sum(asked.kinds)


@pytest.mark.parametrize("told", [{"form": 7}, {"support": 12}, {"asked": True}], ids=str)
async def test_what_is_told_of_a_stretch_counts(reader: SpanReader, told: dict[str, int]) -> None:
    other = SpannedText(text=OSLO.text, spans=(replace(OSLO.spans[0], **told),))  # type: ignore[arg-type]
    again, otherwise = await reader.score([OSLO]), await reader.score([other])
    assert values(again) != pytest.approx(values(otherwise), abs=SAME)
    assert values(again) == pytest.approx(values(await reader.score([OSLO])), abs=SAME)


async def test_beyond_what_the_network_reads_nothing_is_likely(reader: SpanReader) -> None:
    """With one token before the text, five of each sentence, and the last word of a stretch the fourth."""
    text = "I live in London. " * 80
    spans = tuple(span(at, at + 16) for at in range(0, len(text), 18))
    [scores] = await reader.score([SpannedText(text=text, spans=spans)])
    assert [any(one.kinds) for one in scores] == [True] * 51 + [False] * 29
    assert set(scores[51:]) == {NOTHING}
    [begun] = await reader.score([SpannedText(text=text, spans=(span(0, len(text) - 1),))])
    assert begun == [NOTHING]


async def test_a_stretch_of_blanks_is_nothing(reader: SpanReader) -> None:
    [[blank, word]] = await reader.score([SpannedText(text="   Oslo", spans=(span(0, 2), span(3, 7)))])
    assert (blank, any(word.kinds)) == (NOTHING, True)


async def test_scores_stand_in_the_order_of_texts_and_stretches(reader: SpanReader) -> None:
    """However texts of like length are run together."""
    assert len({len(text.text) for text in TEXTS}) == len(TEXTS) > 1
    scores = await reader.score(TEXTS)
    assert [len(text) for text in scores] == [len(text.spans) for text in TEXTS]
    assert values(await reader.score(TEXTS[::-1])) == pytest.approx(values(scores[::-1]), abs=SAME)
    turned = [SpannedText(text=text.text, spans=text.spans[::-1]) for text in TEXTS]
    assert values(await reader.score(turned)) == pytest.approx(
        values([text[::-1] for text in scores]), abs=SAME
    )
    assert values(scores[::-1]) != pytest.approx(values(scores), abs=NEAR)


async def test_a_text_beside_others_has_nearly_the_scores_that_it_has_alone(reader: SpanReader) -> None:
    together = values(await reader.score(TEXTS))
    alone = values([(await reader.score([text]))[0] for text in TEXTS])
    assert sum(abs(a - b) for a, b in zip(together, alone, strict=True)) / len(alone) < NEAR


async def test_without_texts_or_stretches_there_are_no_scores(reader: SpanReader) -> None:
    assert await reader.score([]) == []
    assert await reader.score([spanned("Hm."), spanned("")]) == [[], []]


@pytest.mark.parametrize("missing", [READER_FILE, "model.onnx", "tokenizer.json"])
async def test_a_folder_that_is_not_whole_is_a_dependency_that_is_down(tmp_path: Path, missing: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(default_model_dir(), folder)
    kept = (folder / missing).rename(tmp_path / missing)
    reader = SpanReader(folder)
    with pytest.raises(DependencyDown):
        await reader.score([OSLO])
    kept.rename(folder / missing)
    [[score]] = await reader.score([OSLO])
    assert any(score.kinds)
    await reader.close()


def test_the_network_is_small_for_it_reads_what_it_shares_out_of_the_model() -> None:
    """P-9."""
    file = default_model_dir() / READER_FILE
    assert file.stat().st_size < MOST_BYTES
    tensors = onnx.load(file, load_external_data=False).graph.initializer
    shared = [one for one in tensors if one.data_location == TensorProto.EXTERNAL]
    told = [{entry.key: entry.value for entry in one.external_data} for one in shared]
    assert {one["location"] for one in told} == {"model.onnx"}
    assert sum(int(one["length"]) for one in told) > MOST_BYTES


@pytest.fixture
async def stub() -> AsyncIterator[Any]:
    """Of an embedder whose own model is another one."""
    async with AsyncExitStack() as stack:
        service = await build(EmbedderSettings(backend="hashing", dimension=64), None, stack)
        server = InProcessServer()
        server.add_interceptor(interceptor(service, SECRET, Metrics()))
        service.add_to(server)
        stack.enter_context(act_as(Principal(tenant="acme", role=Role.READER, subject="test")))
        yield embedder_pb2_grpc.EmbedderServiceStub(
            outgoing(server.channel(), "embedder", TokenSigner(SECRET))
        )


def request(*texts: SpannedText) -> pb.ScoreSpansRequest:
    return pb.ScoreSpansRequest(
        texts=[
            pb.SpannedText(
                text=text.text,
                spans=[
                    pb.Span(start=one.start, end=one.end, form=one.form, support=one.support, asked=one.asked)
                    for one in text.spans
                ],
            )
            for text in texts
        ]
    )


async def test_scores_are_the_same_over_the_wire(stub: Any, reader: SpanReader) -> None:
    answer = await stub.ScoreSpans(request(*TEXTS))
    told = [
        [SpanScore(kinds=tuple(one.kinds), categories=tuple(one.categories)) for one in text.scores]
        for text in answer.texts
    ]
    expected = await reader.score(TEXTS)
    assert [len(text) for text in told] == [len(text) for text in expected]
    assert values(told) == pytest.approx(values(expected), abs=SAME)


async def test_places_are_code_points(stub: Any) -> None:
    text = "🙂🙂 I live in Oslo"
    [scores] = (await stub.ScoreSpans(request(spanned(text, "I live in Oslo")))).texts
    assert any(scores.scores[0].kinds)


@pytest.mark.parametrize(
    "bad",
    [
        {"start": 5, "end": 5},
        {"start": 6, "end": 5},
        {"start": 0, "end": 16},
        {"start": -1, "end": 5},
        {"start": 0, "end": 0},
        {"form": 16},
        {"form": -1},
        {"support": 20},
        {"support": -1},
    ],
    ids=str,
)
async def test_a_stretch_that_is_none_is_refused(stub: Any, bad: dict[str, int]) -> None:
    """It is said which one."""
    text = SpannedText(text="I live in Oslo.", spans=(span(0, 15), replace(span(0, 15), **bad)))  # type: ignore[arg-type]
    with pytest.raises(PalimpsestError) as caught:
        await stub.ScoreSpans(request(OSLO, text))
    assert caught.value.reason == Reason.INVALID_FIELD
    assert caught.value.fields[0].field.startswith("texts[1].spans[1]")


@pytest.mark.parametrize(
    "texts",
    [
        (),
        (OSLO,) * 65,
        (spanned(""),),
        (spanned("x" * 65_537),),
        (SpannedText(text="I live in Oslo.", spans=OSLO.spans * 4097),),
    ],
    ids=["none", "too many", "empty", "too long", "too many stretches"],
)
async def test_a_bad_batch_is_refused(stub: Any, texts: tuple[SpannedText, ...]) -> None:
    with pytest.raises(PalimpsestError) as caught:
        await stub.ScoreSpans(request(*texts))
    assert caught.value.reason == Reason.INVALID_FIELD
    assert caught.value.fields[0].field.startswith("texts")


def test_a_service_without_its_network_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match=READER_FILE):
        SpanReader.of(tmp_path)
