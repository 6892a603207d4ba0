"""Evidence recall on a labelled data set (P-11), through the gateway, with no model but the embedder.

Each conversation is ingested into an agent of its own and indexed; each question is asked with
RecallConversation (hybrid, limit 20, scope conversation). A question's recall at k is the share of its gold
messages among the first k hits; figures are means over questions. nDCG has binary gains and an ideal of all
gold messages first. Besides the default, each question is asked by single channels and by the reference
fusion, so that the default is held against its parts in the same run.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from bench.result import percentile
from bench.suite import embedded, gateway

LIMIT = 20
CHUNK = 100
MAX_TEXT_BYTES = 32 * 1024
WAIT_SECONDS = 900
CONCURRENCY = 4
METRICS = ("R@5", "R@10", "R@20", "MRR", "nDCG@10")

Ranked = list[str]
Asked = dict[str, tuple[Ranked, float]]
ROLES = {
    "user": resources_pb2.ROLE_USER,
    "assistant": resources_pb2.ROLE_ASSISTANT,
    "system": resources_pb2.ROLE_SYSTEM,
    "tool": resources_pb2.ROLE_TOOL,
}
VARIANTS: dict[str, Callable[[memories_pb2.RecallConversationRequest], None]] = {
    "default": lambda _: None,
    "vector": lambda request: setattr(request, "mode", recall_pb2.SEARCH_MODE_SEMANTIC),
    "keyword": lambda request: setattr(request, "mode", recall_pb2.SEARCH_MODE_KEYWORD),
    "reference": lambda request: request.fusion.reference.SetInParent(),
}
# Single channels are measured bare: by the reference fusion, which leaves one list in its own order.
BARE = ("vector", "keyword")


def run(data: Path) -> dict[str, Any]:
    """The result document for one data set."""
    with data.open(encoding="utf-8") as file:
        dataset = json.load(file)
    with embedded() as running:
        answers = asyncio.run(_measure(running, dataset))
    return report(dataset, answers)


async def _measure(running: Any, dataset: dict[str, Any]) -> dict[str, dict[str, Asked]]:
    answers: dict[str, dict[str, Asked]] = {}
    async with gateway(running) as (stub, metadata):
        for conversation in dataset["conversations"]:
            ids = await _ingest(stub, metadata, conversation)
            answers |= await _ask_all(stub, metadata, conversation, ids)
    return answers


async def _ingest(stub: Any, metadata: Any, conversation: dict[str, Any]) -> dict[str, str]:
    """Stores and indexes a conversation; returns the data set's message ids by ours."""
    agent = conversation["id"]
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=agent), metadata=metadata)
    await stub.CreateConversation(
        conversations_pb2.CreateConversationRequest(agent_id=agent, conversation_id="c"), metadata=metadata
    )
    ids: dict[str, str] = {}
    parent, tokens = "", list[resources_pb2.FreshnessToken]()
    for start in range(0, len(conversation["messages"]), CHUNK):
        chunk = conversation["messages"][start : start + CHUNK]
        request = conversations_pb2.IngestRequest(
            agent_id=agent, conversation_id="c", messages=[_message(m) for m in chunk], parent_id=parent
        )
        response = await stub.Ingest(request, metadata=metadata)
        ids |= {stored.message_id: m["id"] for stored, m in zip(response.messages, chunk, strict=True)}
        parent, tokens = response.messages[-1].message_id, [response.token]
    waiting = memories_pb2.RecallConversationRequest(
        agent_id=agent, conversation_id="c", query="warm up", wait_for=tokens, limit=1
    )
    answer = await stub.RecallConversation(waiting, metadata=metadata, timeout=WAIT_SECONDS)
    if answer.unindexed:
        raise RuntimeError("not everything was indexed")
    return ids


def _message(message: dict[str, Any]) -> resources_pb2.NewMessage:
    made = resources_pb2.NewMessage(
        role=ROLES[message["role"]], author=message["author"], session=str(message.get("session", ""))
    )
    made.time.FromDatetime(datetime.fromisoformat(message["time"]))
    for piece in _pieces(message["text"]):
        made.parts.add().text = piece
    if message.get("image_caption"):
        picture = made.parts.add().attachment
        picture.uri, picture.media_type, picture.caption = (
            "dataset:image",
            "image/*",
            message["image_caption"],
        )
    return made


def _pieces(text: str) -> Iterable[str]:
    """The text in parts within the size limit (nearly always one)."""
    while len(text.encode("utf-8")) > MAX_TEXT_BYTES:
        yield text[: MAX_TEXT_BYTES // 4]
        text = text[MAX_TEXT_BYTES // 4 :]
    yield text or " "


async def _ask_all(
    stub: Any, metadata: Any, conversation: dict[str, Any], ids: dict[str, str]
) -> dict[str, dict[str, Asked]]:
    gate = asyncio.Semaphore(CONCURRENCY)
    latest = datetime.fromisoformat(conversation["messages"][-1]["time"])

    async def ask(question: dict[str, Any]) -> tuple[str, Asked]:
        asked: Asked = {}
        async with gate:
            for name, adjust in VARIANTS.items():
                request = memories_pb2.RecallConversationRequest(
                    agent_id=conversation["id"],
                    conversation_id="c",
                    query=question["text"],
                    mode=recall_pb2.SEARCH_MODE_HYBRID,
                    scope=memories_pb2.SEARCH_SCOPE_CONVERSATION,
                    limit=LIMIT,
                )
                request.reference_time.FromDatetime(latest)
                adjust(request)
                if name in BARE:
                    request.fusion.reference.SetInParent()
                started = time.monotonic()
                answer = await stub.RecallConversation(request, metadata=metadata)
                asked[name] = (
                    [ids[hit.message.id] for hit in answer.hits],
                    (time.monotonic() - started) * 1000,
                )
        return question["id"], asked

    return {conversation["id"]: dict(await asyncio.gather(*(ask(q) for q in conversation["questions"])))}


def report(dataset: dict[str, Any], answers: dict[str, dict[str, Asked]]) -> dict[str, Any]:
    """Scores every variant, overall and by category."""
    scores: dict[str, list[dict[str, float]]] = defaultdict(list)
    by_category: dict[str, list[dict[str, float]]] = defaultdict(list)
    per_question, latencies = [], []
    for conversation in dataset["conversations"]:
        for question in conversation["questions"]:
            asked = answers[conversation["id"]][question["id"]]
            for name, (ranked, _) in asked.items():
                scores[name].append(score(ranked, question["evidence"]))
            by_category[question["category"]].append(scores["default"][-1])
            ranked, latency = asked["default"]
            latencies.append(latency)
            per_question.append(
                {
                    "id": question["id"],
                    "ranks": {e: ranked.index(e) + 1 for e in question["evidence"] if e in ranked},
                }
            )
    means = {name: _mean(rows) for name, rows in scores.items()}
    return {
        "name": dataset["name"],
        "questions": len(per_question),
        "overall": means["default"],
        "by_category": {
            name: _mean(rows) | {"questions": len(rows)} for name, rows in sorted(by_category.items())
        },
        "channels": {name: means[name] for name in BARE},
        "reference": means["reference"],
        "latency_ms": {
            "p50": round(percentile(latencies, 0.5), 2),
            "p95": round(percentile(latencies, 0.95), 2),
        },
        "per_question": per_question,
    }


def score(ranked: Sequence[str], evidence: Sequence[str]) -> dict[str, float]:
    """The metrics of one question."""
    gold = set(evidence)
    hits = [index for index, id_ in enumerate(ranked) if id_ in gold]
    gain = sum(1 / math.log2(index + 2) for index in hits if index < 10)
    ideal = sum(1 / math.log2(index + 2) for index in range(min(10, len(gold))))
    values = {f"R@{k}": sum(index < k for index in hits) / len(gold) for k in (5, 10, 20)}
    return values | {"MRR": 1 / (hits[0] + 1) if hits else 0.0, "nDCG@10": gain / ideal}


def _mean(rows: list[dict[str, float]]) -> dict[str, float]:
    return {metric: round(sum(row[metric] for row in rows) / len(rows), 4) for metric in METRICS}
