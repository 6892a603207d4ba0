"""The commands about trees, overlays, working memory and state, against a whole suite (SPEC E-3, W-1 to W-8).

The suite runs in the test's loop, each command in a thread of its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio
from click.testing import CliRunner, Result
from structlog.testing import capture_logs

import palimpsest
from palimpsest.cli.main import main
from palimpsest.models import NewMessage
from services.compactor.domain.progress import KINDS
from tests.integration.embedded_suite import Running, running

pytestmark = pytest.mark.asyncio(loop_scope="module")
Run = Callable[..., Awaitable[Result]]
ALWAYS = set(KINDS.values()) - {"refresh"}
"""Kinds of work that a conversation has without any change of what was derived."""


@pytest.fixture(scope="module")
def numbers() -> count[int]:
    return count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    # Its log would be taken for the commands' output, as all of it is one process.
    with capture_logs():
        async with running(tmp_path_factory.mktemp("suite") / "data") as made:
            yield made


@pytest.fixture
def agent(numbers: count[int]) -> str:
    return f"agent-{next(numbers)}"


@pytest_asyncio.fixture(loop_scope="module")
async def client(suite: Running, agent: str) -> AsyncIterator[palimpsest.AsyncClient]:
    """Of an agent with an empty conversation "c"."""
    async with palimpsest.AsyncClient(f"127.0.0.1:{suite.port}", api_key=suite.operator, agent=agent) as made:
        await made.create_agent(system_prompt="You are Ada.")
        await made.create_conversation("c")
        yield made


@pytest.fixture
def run(suite: Running, client: palimpsest.AsyncClient, tmp_path: Path) -> Run:
    environment = {
        "PALIMPSEST_TARGET": client.target,
        "PALIMPSEST_API_KEY": suite.operator,
        "PALIMPSEST_AGENT": client.agent,
        "PALIMPSEST_DATA": str(tmp_path / "none"),
    }

    async def call(*arguments: str) -> Result:
        return await asyncio.to_thread(CliRunner(env=environment).invoke, main, arguments)

    return call


async def said(client: palimpsest.AsyncClient, *texts: str) -> list[str]:
    messages = [NewMessage("user", text) for text in texts]
    return [one.message_id for one in (await client.record_turn("c", messages)).messages]


async def failed(result: Awaitable[Result]) -> str:
    """The one line on standard error of a command that failed."""
    done = await result
    assert done.exit_code == 1, done.output
    [line] = done.stderr.splitlines()
    return line


async def test_a_tree_is_shown_switched_and_forked(run: Run, client: palimpsest.AsyncClient) -> None:
    ids = await said(client, "one", "two")
    turn = await client.record_turn("c", [NewMessage("user", "three")], parent_id=ids[0], branch=True)
    other = turn.messages[0].message_id
    await client.put_overlay("c", ids[0], ids[0], "They counted.", model="by hand", overlay_id="o")

    shown = (await run("show", "c")).stdout
    assert [shown.index(text) for text in ("overlay o", "They counted.", "one", "three")]
    assert "two" not in shown
    assert "two" in (await run("show", "c", "--leaf", ids[1])).stdout
    plain = (await run("show", "c", "--path")).stdout
    assert "They counted." not in plain
    assert [line for line in plain.splitlines() if line.startswith("    ")] == ["    one", "    three"]
    ranges = json.loads((await run("show", "c", "--json")).stdout)
    assert [one["overlay"] and one["overlay"]["id"] for one in ranges] == ["o", None]

    listed = (await run("branches", "c", ids[0])).stdout
    assert listed.count("(active)") == 1
    assert f"2 messages to {ids[1]}" in listed
    documents = json.loads((await run("branches", "c", "--json")).stdout)
    assert [one["first_message"]["id"] for one in documents] == [ids[0]]

    assert (await run("switch", "c", ids[1])).stdout == f"c ends with {ids[1]}, 2 messages\n"
    forked = await run("fork", "c", other, "--as", "d", "--title", "D")
    assert forked.stdout == "d: 2 messages of c\n"
    assert [one.text async for one in client.path("d")] == ["one", "three"]
    assert await failed(run("switch", "c", "nowhere")) == "error: no such message: nowhere"
    assert await failed(run("show", "nowhere")) == "error: no such conversation: nowhere"


async def test_a_conversation_is_watched(run: Run, client: palimpsest.AsyncClient) -> None:
    ids = await said(client, "one", "two")
    await client.put_overlay("c", ids[0], ids[0], "They counted.", model="by hand", overlay_id="o")
    shown = (await run("watch", "c", "--after", "0", "--count", "4")).stdout
    for text in ("one", "two", "overlay o over 1 to 1: They counted.", "2 stored, "):
        assert text in shown
    lines = (await run("watch", "c", "--after", "1", "--count", "1", "--json")).stdout.splitlines()
    assert [json.loads(line)["message"]["id"] for line in lines] == [ids[1]]


async def test_notes_and_the_task(run: Run) -> None:
    assert (await run("notes", "c")).stdout == ""
    assert (await run("notes", "c", "--set", "likes herons")).stdout == "likes herons\n"
    assert (await run("notes", "c", "--append", "and tea")).stdout == "likes herons\nand tea\n"
    assert json.loads((await run("notes", "c", "--json")).stdout)["version"] == 2
    assert (await run("notes", "c", "--clear")).stdout == ""
    assert (await run("notes", "c", "--clear", "--set", "x")).exit_code == 2
    assert (await run("task", "c")).stdout == ""
    assert (await run("task", "c", "--set", "find the nest")).stdout == "find the nest\n"
    assert (await run("task", "c")).stdout == "find the nest\n"
    assert (await run("task", "c", "--clear")).exit_code == 0
    assert json.loads((await run("task", "c", "--json")).stdout) is None
    assert await failed(run("task", "nowhere")) == "error: no such conversation: nowhere"


async def test_context_blocks(run: Run) -> None:
    put = ("blocks", "put", "docs", "--kind", "searchable", "--description", "Birds", "--max-tokens", "100")
    assert "docs  searchable" in (await run(*put)).stdout
    added = await run("blocks", "add", "docs", "heron", "Herons nest in trees.", "--title", "Herons")
    assert added.stdout.startswith("stored: docs/heron (")
    assert (await run("blocks", "list")).stdout.rstrip().endswith("of 100 tokens, 1 entries: Birds")
    assert (await run("blocks", "entries", "docs")).stdout.startswith("heron  Herons")
    assert "docs/heron  Herons nest" in (await run("blocks", "search", "nest")).stdout
    await run("blocks", "put", "persona", "Be kind.", "--kind", "readonly", "--conversation", "c")
    assert "Be kind." in (await run("blocks", "show", "persona", "--conversation", "c")).stdout
    assert json.loads((await run("blocks", "list", "--json")).stdout)[0]["label"] == "docs"
    prompt = await run("blocks", "prompt", "c", "--refresh")
    assert prompt.stdout.startswith("You are Ada.")
    assert "Be kind." in prompt.stdout
    assert (await run("blocks", "remove", "docs", "heron")).stdout == "deleted: docs/heron\n"
    assert (await run("blocks", "delete", "docs")).stdout == "deleted: docs\n"
    assert (await run("blocks", "delete", "docs")).stdout == "no such block: docs\n"


async def test_state(run: Run) -> None:
    assert await failed(run("state", "get")) == "error: no such state: default"
    assert (await run("state", "set", '{"n": 1}')).stdout == "stored: version 1\n"
    assert (await run("state", "get")).stdout == '{"n": 1}\n'
    assert json.loads((await run("state", "get", "--json")).stdout)["value"] == {"n": 1}
    assert "version" in await failed(run("state", "set", "{}", "--expect", "0"))
    assert "json: " in await failed(run("state", "set", "[]"))
    assert (await run("state", "watch", "--count", "1")).stdout == '1  {"n": 1}\n'
    assert (await run("state", "delete")).stdout == "deleted: version 2\n"
    assert (await run("state", "watch", "--count", "1")).stdout == "2  deleted\n"


async def test_records(run: Run) -> None:
    created = await run("records", "create", "birds", "--field", "name:string", "--field", "seen:number")
    assert created.stdout == "birds: 2 indexed fields\n"
    for name, seen in (("heron", 7), ("hoopoe", 1), ("owl", 3)):
        record = json.dumps({"name": name, "seen": seen})
        stored = await run("records", "put", "birds", record, "--id", name)
        assert stored.stdout == f"stored: {name} (version 1)\n"

    async def found(*arguments: str) -> list[str]:
        done = await run("records", "find", "birds", *arguments)
        assert done.exit_code == 0, done.output
        return [line.split()[0] for line in done.stdout.splitlines()]

    assert await found() == ["heron", "hoopoe", "owl"]
    assert await found("--order", "seen", "--descending", "--limit", "2") == ["heron", "owl"]
    assert await found("seen>=3") == ["heron", "owl"]
    assert await found("seen<7", "name^=h") == ["hoopoe"]
    assert await found("name=owl") == ["owl"]
    assert (await run("records", "find", "birds", "nonsense")).exit_code == 2
    assert (await run("records", "create", "x", "--field", "a:b")).exit_code == 2
    assert json.loads((await run("records", "get", "birds", "owl", "--json")).stdout)["value"]["seen"] == 3
    assert (await run("records", "delete", "birds", "owl")).stdout == "deleted: owl\n"
    assert await failed(run("records", "get", "birds", "owl")) == "error: no such record: owl"
    assert (await run("records", "collections")).stdout == "birds  name:string, seen:number\n"
    assert (await run("records", "drop", "birds")).stdout == "deleted: birds\n"


async def test_a_transcript_that_parts_from_what_is_stored_needs_to_say_so(
    run: Run, client: palimpsest.AsyncClient, tmp_path: Path
) -> None:
    """E-2, E-3."""
    file = tmp_path / "c.jsonl"

    async def ingest(*texts: str, options: tuple[str, ...] = ()) -> Result:
        lines = [json.dumps({"role": "user", "content": text}) for text in texts]
        file.write_text("\n".join(lines), "utf-8")
        return await run("ingest", str(file), *options)

    assert "2 of them new" in (await ingest("one", "two")).stdout
    assert "would begin a branch" in await failed(ingest("one", "three"))
    assert "1 of them new" in (await ingest("one", "three", options=("--branch",))).stdout
    assert [one.text async for one in client.path("c")] == ["one", "three"]


async def test_layers_of_the_prompt_count_overlays(run: Run, client: palimpsest.AsyncClient) -> None:
    ids = await said(client, *(f"small talk {n} " + "about nothing " * 20 for n in range(12)))
    await client.put_overlay("c", ids[2], ids[8], "Nothing.", model="by hand")
    shown = await run("prompt", "So?", "--conversation", "c", "--budget", "700", "--format", "layers")
    lines = shown.stdout.splitlines()
    layers = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert layers == ["system", "facts", "working", "history", "retrieved", "message", "total"]
    assert sum(line.startswith("    overlay ") for line in lines) == 1


async def test_conversations_are_listed_newest_first(run: Run, client: palimpsest.AsyncClient) -> None:
    """E-13."""
    await client.create_conversation("trip", title="A trip\nto Bergen")
    await said(client, "hello", "hi")
    lines = (await run("conversations")).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["trip", "c"]
    assert "0 stored, 0 indexed  A trip to Bergen" in lines[0]
    assert "2 stored" in lines[1]
    assert [
        line.split()[0] for line in (await run("conversations", "--oldest-first")).stdout.splitlines()
    ] == [
        "c",
        "trip",
    ]
    assert (await run("conversations", "--since", "2099-01-01")).stdout == ""
    [newest] = json.loads((await run("conversations", "--limit", "1", "--json")).stdout)
    assert (newest["id"], newest["title"]) == ("trip", "A trip\nto Bergen")


async def test_how_far_a_conversation_is_derived(run: Run, client: palimpsest.AsyncClient) -> None:
    """J-1: every kind of work that a conversation has."""
    await said(client, *(f"Message {number} about the harbour of Bergen." for number in range(40)))

    async def derived() -> None:
        while True:
            found = await client.derived_progress("c")
            kinds = {one.kind for one in found}
            if kinds >= ALWAYS and not any(one.waiting_count for one in found):
                return
            await asyncio.sleep(0.05)

    await asyncio.wait_for(derived(), 60)
    document = json.loads((await run("progress", "c", "--json")).stdout)
    assert document["stored_count"] == 40
    found = {one["kind"]: one for one in document["work"]}
    assert {found[kind]["up_to_sequence"] for kind in ("index", "extract")} == {40}
    assert found["cover"]["up_to_sequence"] >= 26
    for kind in ("summarize", "graph", "attractor"):
        assert found[kind]["up_to_sequence"] >= 26
    assert {(one["waiting_count"], one["dead_count"]) for one in found.values()} == {(0, 0)}
    lines = (await run("progress", "c")).stdout.splitlines()
    assert lines[0] == "40 messages stored"
    assert "index      up to 40" in lines
    assert [line for line in lines if line.startswith("graph      up to ")]
    assert await failed(run("progress", "none")) == "error: no such conversation: none"


async def test_schedules_are_listed_triggered_and_changed(run: Run) -> None:
    """J-5, J-10, J-11."""
    listed = json.loads((await run("schedules", "list", "--json")).stdout)
    assert {one["name"] for one in listed} >= {"summarize", "reflect", "consolidate", "check-drift"}
    assert "reflect" in (await run("schedules", "list")).stdout
    assert (await run("schedules", "trigger", "summarize")).stdout.startswith("summarize is asked for, as ")
    changed = await run("schedules", "set", "reflect", "--cron", "30 2 * * *", "--disable")
    assert changed.stdout.split()[:6] == ["reflect", "30", "2", "*", "*", "*"]
    assert "next disabled" in changed.stdout
    back = json.loads((await run("schedules", "set", "reflect", "--cron", "", "--enable", "--json")).stdout)
    assert (back["cron"], back["enabled"]) == ("0 3 * * *", True)
    assert await failed(run("schedules", "trigger", "none")) == "error: no such schedule: none"
    assert (await run("schedules", "set", "reflect")).exit_code == 2
