"""Memories in great number, with vectors, all from a seed.

Texts are made-up words whose frequencies fall as those of a language do. Vectors lie around the model's own
vectors of some sentences, as those of texts lie in clusters. Needles are English, with the model's vectors.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bench.fixtures import word
from bench.needles import NEEDLES
from services.embedder.adapters.onnx_folder import OnnxFolder
from services.memory.semantic.domain.memory import FactType, NewMemory, Scope, Source

VOCABULARY = 60_000
ZIPF_OFFSET = 30.0  # the commonest word is in 5 % of the memories
WORDS_EACH = 12
CLUSTER_COSINE = 0.75  # of a vector with the middle of its cluster; of two of a cluster .56
CLUSTER_SPREAD = 20.0  # half of all vectors are in so many clusters
TOPIC_RATE = 0.2  # of topics, each is in .82 times as many keys as the one before it
FACT_TYPES = (*[FactType.FACT] * 5, *[FactType.PREFERENCE] * 3, FactType.EVENT, FactType.INSTRUCTION)

TOPICS = (
    *("food", "travel", "work", "family", "health", "music", "home", "sport", "school", "money"),
    *("car", "book", "film", "garden", "phone", "holiday", "friend", "pet", "weather", "language"),
)
WHO = (
    *("the customer", "my sister", "our team", "a neighbour"),
    *("the doctor", "his teacher", "the band", "a tourist"),
)
DOES = (
    *("wants to cancel", "is afraid of", "has just bought", "often forgets"),
    *("cannot stand", "recommends", "dreams of"),
)
WHAT = (
    *("the monthly invoice", "a flight to Lisbon", "spicy noodles", "an old bicycle", "the history exam"),
    *("loud concerts", "a new laptop", "the vegetable garden", "morning meetings", "a rescued dog"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory to be written, its vector, and of a needle the question."""

    new: NewMemory
    vector: bytes
    question: str = ""


class Drafts:
    """Makes memories: the same ones for the same seed and calls."""

    def __init__(self, model: OnnxFolder, seed: int) -> None:
        self.dice = random.Random(seed)
        self._arrays = np.random.default_rng(seed)
        self._model = model
        words: dict[str, None] = {}
        while len(words) < VOCABULARY:
            words[word(self.dice) + word(self.dice)[:3]] = None
        self._words = np.array(list(words))
        weights = 1.0 / (np.arange(VOCABULARY) + ZIPF_OFFSET)
        self._cumulated = np.cumsum(weights / weights.sum())
        sentences = [" ".join(parts) for parts in product(WHO, DOES, WHAT)]
        self.dice.shuffle(sentences)
        self._middles = np.stack([np.frombuffer(vector, "<f4") for vector in self._embed(sentences)])
        self._values = [f"{needle.statement} {self._rare()} {self._rare()}" for needle in NEEDLES]
        self._vectors = self._embed(self._values)

    def make(self, agent_id: str, contacts: Sequence[str], start: int, count: int) -> list[Draft]:
        """`count` memories of contacts by turns, the first of them the agent's memory number `start`.

        A key has a topic, a word and the number; the value has other words.
        """
        chosen = np.searchsorted(self._cumulated, self._arrays.random((count, WORDS_EACH)))
        texts = self._words[np.minimum(chosen, VOCABULARY - 1)]
        vectors = self._around(count)
        return [
            Draft(
                new=_new(
                    agent_id,
                    contacts[(start + place) % len(contacts)],
                    f"{self._topic()}.{texts[place, 0]}.{start + place}",
                    " ".join(texts[place, 1:]),
                    self.dice.choice(FACT_TYPES),
                ),
                vector=vectors[place].tobytes(),
            )
            for place in range(count)
        ]

    def needles(self, agent_id: str, contact_id: str) -> list[Draft]:
        """All of them, of one person or of nobody; each ends with two words of its own."""
        return [
            Draft(
                new=_new(agent_id, contact_id, f"needle.{agent_id}x{number}", value, FactType.FACT),
                vector=self._vectors[number],
                question=needle.question,
            )
            for number, (needle, value) in enumerate(zip(NEEDLES, self._values, strict=True))
        ]

    def _rare(self) -> str:
        return f"qu{word(self.dice)}{word(self.dice)}{word(self.dice)}"

    def _topic(self) -> str:
        return TOPICS[min(int(self.dice.expovariate(TOPIC_RATE)), len(TOPICS) - 1)]

    def _around(self, count: int) -> Any:
        """Unit vectors, in clusters of which a few are large."""
        places = (self._arrays.pareto(1.0, count) * CLUSTER_SPREAD).astype(int)
        middles = self._middles[np.minimum(places, len(self._middles) - 1)]
        noise = self._arrays.standard_normal(middles.shape).astype("<f4")
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        vectors = CLUSTER_COSINE * middles + (1 - CLUSTER_COSINE**2) ** 0.5 * noise
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f4")

    def _embed(self, texts: Sequence[str]) -> list[bytes]:
        return self._model.embed_now(self._model.prepare_now(texts))


def _new(agent_id: str, contact_id: str, key: str, value: str, fact_type: FactType) -> NewMemory:
    return NewMemory(
        scope=Scope(agent_id=agent_id, contact_ids=(contact_id,) if contact_id else ()),
        key=key,
        value=value,
        fact_type=fact_type,
        pinned=False,
        source=Source.EXPLICIT,
        provenance=(),
        valid_from=None,
        request_id="",
    )
