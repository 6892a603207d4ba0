"""ONNX folders of other shapes than the bundled model (SPEC M-5)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers

from services.embedder.adapters.onnx_folder import (
    DEFAULT_MAX_TOKENS,
    GIVE_BACK,
    TOKENS_PER_RUN,
    OnnxFolder,
    runs,
)
from services.embedder.domain.model import ModelDescription, Prepared
from services.kit.errors import DependencyDown, StartupError

WORDS = {"[UNK]": 0, "harbour": 1, "tide": 2, "gull": 3, "missing": 4}
TABLE = np.array([[1, 0, 0], [0, 2, 0], [0, 0, 3], [1, 1, 1]], dtype=np.float32)  # no row for "missing"
PLAIN = ("input_ids", "attention_mask")


def write_folder(folder: Path, inputs: Sequence[str] = PLAIN, *, pooled: bool = False) -> Path:
    """A model that looks words up; it gives a vector for each token or, `pooled`, their masked sum."""
    folder.mkdir()
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"], axis=0)]
    shape: list[str | int] = ["batch", "sequence", TABLE.shape[1]]
    constants = [numpy_helper.from_array(TABLE, "table")]
    if pooled:
        constants += [numpy_helper.from_array(np.array([n]), f"axis_{n}") for n in (1, 2)]
        nodes += [
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask", "axis_2"], ["column"]),
            helper.make_node("Mul", ["tokens", "column"], ["kept"]),
            helper.make_node("ReduceSum", ["kept", "axis_1"], ["out"], keepdims=0),
        ]
        shape = ["batch", TABLE.shape[1]]
    else:
        nodes.append(helper.make_node("Identity", ["tokens"], ["out"]))
    graph = helper.make_graph(
        nodes,
        "lookup",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in inputs],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, shape)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    onnx.save(model, folder / "model.onnx")
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def expected(text: str) -> NDArray[np.float32]:
    mean = TABLE[[WORDS[word] for word in text.split()]].mean(axis=0)
    unit: NDArray[np.float32] = mean / np.linalg.norm(mean)
    return unit


@pytest.mark.parametrize("inputs", [PLAIN, (*PLAIN, "token_type_ids")])
@pytest.mark.parametrize("pooled", [False, True])
async def test_outputs_of_any_shape_become_one_unit_vector_a_text(
    tmp_path: Path, inputs: Sequence[str], pooled: bool
) -> None:
    backend = OnnxFolder.load(write_folder(tmp_path / "model", inputs, pooled=pooled), dimension=3)
    texts = ["harbour", "tide gull tide", "gull harbour " * 300, "tide"]
    vectors = await backend.embed(await backend.prepare(texts))
    made = np.array([np.frombuffer(vector, "<f4") for vector in vectors])
    assert np.allclose(made, [expected(text) for text in texts], atol=1e-5)
    await backend.close()


async def test_a_folder_without_manifest_describes_itself_and_its_tokenizer_cuts_nothing(
    tmp_path: Path,
) -> None:
    folder = write_folder(tmp_path / "lookup")
    backend = OnnxFolder.load(folder)
    assert backend.description.name == "lookup"
    assert backend.description.dimension == 3
    assert backend.description.max_tokens == DEFAULT_MAX_TOKENS
    assert backend.description.revision == hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    assert [text.token_count for text in await backend.prepare(["tide " * 9, "tide"])] == [9, 1]
    await backend.close()


def test_a_model_with_inputs_that_nothing_can_fill_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model", (*PLAIN, "pixel_values"))
    with pytest.raises(StartupError, match="cannot embed a text"):
        OnnxFolder.load(folder)


async def test_a_model_that_fails_on_a_text_is_down_for_it_and_works_on(tmp_path: Path) -> None:
    backend = OnnxFolder.load(write_folder(tmp_path / "model"))
    with pytest.raises(DependencyDown) as caught:
        await backend.embed(await backend.prepare(["missing"]))
    assert "missing" not in caught.value.message
    [vector] = await backend.embed(await backend.prepare(["tide"]))
    assert np.allclose(np.frombuffer(vector, "<f4"), expected("tide"))
    await backend.close()


@pytest.mark.parametrize("threads", [1, 3])
async def test_runs_side_by_side_give_each_text_its_vector(tmp_path: Path, threads: int) -> None:
    """M-2: a batch is cut into runs; one that fails fails the batch, and the next batch is whole."""
    backend = OnnxFolder.load(write_folder(tmp_path / "model"), threads=threads)
    texts = [" ".join(["tide"] * (n % 40 + 1) + ["gull"] * n) for n in range(90)]
    prepared = await backend.prepare(texts)
    assert len(list(runs(prepared))) > threads
    with pytest.raises(DependencyDown):
        await backend.embed([*prepared, *await backend.prepare(["missing"])])
    for vectors in (await backend.embed(prepared), backend.embed_now(prepared)):
        made = np.array([np.frombuffer(vector, "<f4") for vector in vectors])
        assert np.allclose(made, [expected(text) for text in texts], atol=1e-5)
    await backend.close()


async def test_only_runs_of_very_long_texts_give_their_memory_back(tmp_path: Path) -> None:
    """P-9, P-16: what other runs take is kept for the next one."""
    folder = write_folder(tmp_path / "model")
    session = Noting(onnxruntime.InferenceSession(str(folder / "model.onnx")))
    description = ModelDescription(name="words", dimension=3, max_tokens=1_000, revision="1")
    backend = OnnxFolder(session, Tokenizer.from_file(str(folder / "tokenizer.json")), description, 1)
    for count in (TOKENS_PER_RUN, TOKENS_PER_RUN + 1):
        backend.embed_now([Prepared(text="", token_count=count, spans=(), ids=(1,) * count)])
    assert session.given_back == [None, GIVE_BACK[1]]
    await backend.close()


class Noting:
    """A session that notes whether a run is to give memory back."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.given_back: list[str | None] = []

    def get_inputs(self) -> Any:
        return self._session.get_inputs()

    def run(self, outputs: Any, feed: Any, options: Any) -> Any:
        self.given_back.append(None if options is None else options.get_run_config_entry(GIVE_BACK[0]))
        return self._session.run(outputs, feed, options)


@given(st.lists(st.integers(1, 2 * TOKENS_PER_RUN), max_size=40))
def test_runs_keep_every_text_in_order_and_bound_the_padded_tokens(counts: list[int]) -> None:
    """P-9: what a run holds grows with its padded tokens, so no run of several texts has too many."""
    texts = [Prepared(text=str(i), token_count=n, spans=(), ids=(0,) * n) for i, n in enumerate(counts)]
    parts = list(runs(texts))
    assert [text for part in parts for text in part] == texts
    for part in parts:
        assert len(part) == 1 or len(part) * max(len(text.ids) for text in part) <= TOKENS_PER_RUN
