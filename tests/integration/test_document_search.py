"""Derived documents are found, by those whom they concern, and again after a loss (SPEC S-13, SV-2)."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from google.protobuf.message import Message
from palimpsest.derived.v1.derived_pb2 import TriggerScheduleRequest
from palimpsest.gateway.v1 import conversations_pb2, prompt_pb2
from palimpsest.gateway.v1.indexes_pb2 import GetReindexRequest, ReindexRequest
from palimpsest.search.v1 import search_pb2 as pb

from palimpsest.cli.main import main
from palimpsest.client import AsyncClient
from services.compactor.adapters.summary_handler import BATCHES, LEAST_MESSAGES
from tests.integration.embedded_suite import AGENT, Running, contact, failure, running, said

PATIENCE = 40.0

TALKS = {
    "english": "We decided to move the greenhouse irrigation to drip hoses before the summer.",
    "german": "Wir haben beschlossen, die Bücher der Bibliothek im Herbst neu zu ordnen.",
    "japanese": "来月は京都の図書館で古い地図を調べることにしました。",
    "arabic": "قررنا أن نزور الطبيب في دمشق صباح الأحد.",
}
QUESTIONS = {
    "english": "drip hoses irrigation",
    "german": "Buch Bibliothek",
    "japanese": "図書館の地図",
    "arabic": "طبيب دمشق",
}


async def begin(stub: Any, conversation: str, contact_id: str = "") -> None:
    await stub.CreateConversation(
        conversations_pb2.CreateConversationRequest(
            agent_id=AGENT, conversation_id=conversation, contact_id=contact_id
        )
    )


async def talk(stub: Any, conversation: str, text: str, first: int = 1) -> None:
    """As much as makes a summary, once a batch comes round."""
    await stub.RecordTurn(
        conversations_pb2.RecordTurnRequest(
            agent_id=AGENT,
            conversation_id=conversation,
            messages=[
                said(text if n == first else f"{n}. {text}", id=f"m{n}", author="Ann")
                for n in range(first, first + LEAST_MESSAGES)
            ],
        )
    )


async def search(stub: Any, query: str, **fields: Any) -> list[pb.DocumentHit]:
    response = await stub.SearchDocuments(pb.SearchDocumentsRequest(agent_id=AGENT, query=query, **fields))
    assert not response.failures
    return list(response.hits)


async def until(found: Callable[[], Awaitable[Any]], stub: Any = None) -> Any:
    """What `found` gives, once it gives something; with a stub, batches of summaries come round meanwhile."""
    async with asyncio.timeout(PATIENCE):
        while not (value := await found()):
            if stub is not None:
                await stub.TriggerSchedule(TriggerScheduleRequest(name=BATCHES.name))
            await asyncio.sleep(0.2)
    return value


async def summaries(stub: Any, query: str, **fields: Any) -> list[str]:
    hits = await search(stub, query, types=[pb.DOCUMENT_TYPE_SUMMARY], **fields)
    return [hit.document_id for hit in hits]


async def retrieved(stub: Any, conversation: str, message: str) -> prompt_pb2.Layer:
    """What a prompt shows because it matches the new message; empty if nothing does."""
    answer = await stub.AssemblePrompt(
        prompt_pb2.AssemblePromptRequest(agent_id=AGENT, conversation_id=conversation, message=message)
    )
    assert not answer.failures
    layers = [layer for layer in answer.layers if layer.kind == prompt_pb2.LAYER_KIND_RETRIEVED]
    return layers[0] if layers else prompt_pb2.Layer()


async def is_first(stub: Any, query: str, conversation: str) -> bool:
    return (await summaries(stub, query))[:1] == [conversation]


async def agent(suite: Running) -> Any:
    stub = await suite.stub()
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
    return stub


async def test_a_summary_is_found_in_its_language_and_its_next_version_replaces_it(tmp_path: Path) -> None:
    """By words and by likeness, explained; and again after restarts and losses of the indexes."""
    async with running(tmp_path) as suite:
        stub = await agent(suite)
        for conversation, text in TALKS.items():
            await begin(stub, conversation)
            await talk(stub, conversation, text)
        for conversation, query in QUESTIONS.items():
            await until(partial(is_first, stub, query, conversation), stub)
        hit = (await search(stub, QUESTIONS["english"], types=[pb.DOCUMENT_TYPE_SUMMARY]))[0]
        assert (hit.conversation_id, hit.branch_id, hit.version) == ("english", "", 1)
        assert "greenhouse" in hit.snippet
        assert hit.chunk_count == 1
        assert len(hit.explanation.channels) == 2
        assert abs(hit.explanation.score - sum(c.contribution for c in hit.explanation.channels)) < 1e-5

        await talk(
            stub, "english", "Instead of hoses we buy a rain barrel for the tomatoes.", LEAST_MESSAGES + 1
        )

        async def replaced() -> list[pb.DocumentHit]:
            hits = await search(stub, "rain barrel tomatoes", types=[pb.DOCUMENT_TYPE_SUMMARY])
            return [one for one in hits[:1] if one.document_id == "english" and one.version == 2]

        (hit,) = await until(replaced, stub)
        assert "rain barrel" in hit.snippet
        assert len({(one.type, one.document_id) for one in await search(stub, "rain barrel")}) == len(
            await search(stub, "rain barrel")
        ), "a document comes once"

    for lost in ((), ("semantic-index.db",), ("vectors",), ("semantic-index.db", "vectors")):
        remove(tmp_path, lost)
        async with running(tmp_path) as suite:
            stub = await suite.stub()
            for conversation, query in (QUESTIONS | {"english": "rain barrel"}).items():
                await until(partial(is_first, stub, query, conversation))
                await until(partial(by_both, stub, query))


async def test_what_was_talked_of_with_a_person_is_found_for_that_person_alone(tmp_path: Path) -> None:
    """Also what several conversations have in common; with the positive controls beside."""
    async with running(tmp_path) as suite:
        stub = await agent(suite)
        ann, bob = await contact(stub, "mail:ann"), await contact(stub, "mail:bob")
        await begin(stub, "anns", ann)
        await begin(stub, "bobs", bob)
        await begin(stub, "nobodys")
        for conversation in ("anns", "bobs", "nobodys"):
            await talk(
                stub, conversation, f"The lighthouse keeper of {conversation} repairs the copper lamp."
            )

        async def everything(*wanted: str) -> bool:
            found = await summaries(stub, "lighthouse keeper", scope=pb.DOCUMENT_SCOPE_ALL)
            return sorted(found) == sorted(wanted)

        await until(lambda: everything("anns", "bobs", "nobodys"), stub)
        assert sorted(await summaries(stub, "lighthouse keeper", contact_ids=[ann])) == ["anns", "nobodys"]
        assert sorted(await summaries(stub, "lighthouse keeper", contact_ids=[bob])) == ["bobs", "nobodys"]
        assert await summaries(stub, "lighthouse keeper") == ["nobodys"]

        async def branch() -> bool:
            hits = await search(
                stub, "lighthouse", types=[pb.DOCUMENT_TYPE_BRANCH], scope=pb.DOCUMENT_SCOPE_ALL
            )
            return bool(hits)

        await until(branch)
        for hit in await search(stub, "lighthouse", contact_ids=[bob]):
            assert "anns" not in hit.snippet
        await by_client_and_command(suite, ann)
        code, reason, _ = await failure(
            stub.SearchDocuments(pb.SearchDocumentsRequest(agent_id=AGENT, query="q", contact_ids=["x"]))
        )
        assert reason == "RESOURCE_NOT_FOUND", code


async def test_a_summary_comes_into_the_prompts_of_its_persons_other_conversations(tmp_path: Path) -> None:
    """Named by id and version (SPEC G-1), until another version replaces it; and nobody else's (S-13)."""
    async with running(tmp_path) as suite:
        stub = await agent(suite)
        people = {name: await contact(stub, f"mail:{name}") for name in ("ann", "bob")}
        for name, contact_id in people.items():
            await begin(stub, f"{name}s", contact_id)
            await begin(stub, f"{name}s-later", contact_id)
            await talk(stub, f"{name}s", f"The lighthouse keeper of {name} repairs the copper lamp.")

        async def shown(conversation: str, *wanted: tuple[str, int]) -> str:
            """The text of the layer once its summaries are those; "" while they are not."""
            layer = await retrieved(stub, conversation, "What became of the lighthouse keeper?")
            named = [
                (one.document_id, one.version)
                for one in layer.documents
                if one.type == pb.DOCUMENT_TYPE_SUMMARY
            ]
            return layer.text if named == list(wanted) else ""

        text = await until(lambda: shown("anns-later", ("anns", 1)), stub)
        assert "⟦data: documents⟧" in text
        assert "keeper of ann" in text
        assert "keeper of bob" not in text
        text = await until(lambda: shown("bobs-later", ("bobs", 1)), stub)
        assert "keeper of bob" in text
        assert "keeper of ann" not in text
        own = await retrieved(stub, "anns", "What became of the lighthouse keeper?")
        assert not any(one.document_id == "anns" for one in own.documents)

        await talk(stub, "anns", "The lighthouse keeper has sold the lamp.", LEAST_MESSAGES + 1)
        assert "sold the lamp" in await until(lambda: shown("anns-later", ("anns", 2)), stub)


async def test_documents_are_built_again_with_all_the_rest(tmp_path: Path) -> None:
    """Reindex counts them, and they are found throughout."""
    async with running(tmp_path) as suite:
        stub = await agent(suite)
        await begin(stub, "c")
        await talk(stub, "c", TALKS["english"])
        await until(lambda: is_first(stub, QUESTIONS["english"], "c"), stub)
        run = (await stub.Reindex(ReindexRequest())).run
        assert run.total_count > LEAST_MESSAGES

        async def done() -> Message | None:
            now = (await stub.GetReindex(GetReindexRequest(reindex_id=run.id))).run
            assert await is_first(stub, QUESTIONS["english"], "c")
            return now if now.HasField("finish_time") else None

        assert (await until(done)).done_count >= run.total_count


async def by_client_and_command(suite: Running, ann: str) -> None:
    """The same as the RPC: for a person, and of everything."""
    target = f"127.0.0.1:{suite.port}"
    async with AsyncClient(target, api_key=suite.operator, agent=AGENT) as client:
        found = await client.search_documents("lighthouse", contact_id=ann, types=["summary"])
        assert {one.document_id for one in found} == {"anns", "nobodys"}
        assert len(await client.search_documents("lighthouse", scope="all", types=["summary"])) == 3
        assert len(await client.search_documents("lighthouse", scope="all", limit=1)) == 1
        with pytest.raises(ValueError, match="no document type 'poem'"):
            await client.search_documents("q", types=["poem"])  # type: ignore[list-item]
    environment = {
        "PALIMPSEST_TARGET": target,
        "PALIMPSEST_API_KEY": suite.operator,
        "PALIMPSEST_AGENT": AGENT,
    }

    async def command(*arguments: str) -> str:
        run = await asyncio.to_thread(
            CliRunner(env=environment).invoke, main, ["search", "lighthouse keeper", *arguments]
        )
        assert run.exit_code == 0, run.output
        return run.stdout

    shown = await command("--type", "summary", "--explain")
    assert all(f"summary {one}  " in shown for one in ("anns", "bobs", "nobodys"))
    assert "vector rank" in shown
    document = json.loads(await command("--type", "summary", "--contact", "mail:ann", "--json"))
    assert {one["document_id"] for one in document["hits"]} == {"anns", "nobodys"}


async def by_both(stub: Any, query: str) -> bool:
    hits = await search(stub, query, types=[pb.DOCUMENT_TYPE_SUMMARY])
    return bool(hits) and len(hits[0].explanation.channels) == 2


def remove(data: Path, names: Sequence[str]) -> None:
    for name in names:
        for path in data.glob(f"{name}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
