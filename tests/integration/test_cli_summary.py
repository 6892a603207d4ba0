"""Summaries by the client and the command, against a whole suite (SPEC J-6, J-17)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from click.testing import CliRunner, Result
from structlog.testing import capture_logs

import palimpsest
from palimpsest.cli.main import main
from palimpsest.errors import NotFoundError, VersionConflictError
from palimpsest.models import NewMessage
from tests.integration.embedded_suite import Running, running

pytestmark = pytest.mark.asyncio(loop_scope="module")
Run = Callable[..., Awaitable[Result]]
SAID = 26  # more uncovered messages than may be (E-8)
FILE = "manifests/tin-7.csv"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    with capture_logs():  # the log would be taken for the commands' output, as all of it is one process
        async with running(tmp_path_factory.mktemp("suite") / "data") as made:
            yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(suite: Running) -> AsyncIterator[palimpsest.AsyncClient]:
    """Of an agent with a conversation "c" that has a summary."""
    target = f"127.0.0.1:{suite.port}"
    async with palimpsest.AsyncClient(target, api_key=suite.operator, agent="ada") as made:
        await made.create_agent()
        await made.create_conversation("c", title="Harbours")
        await made.create_conversation("short")
        await made.record_turn("c", [NewMessage("user", text(number)) for number in range(1, SAID + 1)])
        async with asyncio.timeout(60):
            while not await summarised(made):  # noqa: ASYNC110 - several services have to come to rest
                await asyncio.sleep(0.05)
        yield made


@pytest.fixture
def run(suite: Running, client: palimpsest.AsyncClient, tmp_path: Path) -> Run:
    environment = {
        "PALIMPSEST_TARGET": client.target,
        "PALIMPSEST_API_KEY": suite.operator,
        "PALIMPSEST_AGENT": client.agent,
        "PALIMPSEST_DATA": str(tmp_path / "none"),
    }

    async def call(*arguments: str, given: str | None = None) -> Result:
        runner = CliRunner(env=environment)
        return await asyncio.to_thread(lambda: runner.invoke(main, arguments, input=given))

    return call


def text(number: int) -> str:
    return (
        f"The harbour of Bergen took {number * 17} crates of tin on day {number}."
        f" The clerk filed it under manifests/tin-{number}.csv, which nobody has read."
    )


async def summarised(client: palimpsest.AsyncClient) -> bool:
    found = {one.kind: one.up_to_sequence for one in await client.derived_progress("c")}
    return found.get("summarize") == SAID


async def failed(result: Awaitable[Result]) -> str:
    """The one line on standard error of a command that failed."""
    done = await result
    assert done.exit_code == 1, done.output
    [line] = done.stderr.splitlines()
    return line


async def test_a_summary_is_read_with_all_that_it_says(client: palimpsest.AsyncClient) -> None:
    """J-6, J-7."""
    found = await client.summary("c", version=1)
    assert (found.conversation_id, found.title, found.version) == ("c", "Harbours", 1)
    assert (found.message_count, found.up_to_sequence, found.corrected) == (SAID, SAID, False)
    assert found.engine.startswith("extractive")
    assert next(iter(found.sections)) == "objective"
    assert len(found.sections) == 7
    assert all(line.text.startswith("manifests/") for line in found.sections["relevant_files"])
    assert found.sections["relevant_files"]
    assert "## Relevant Files" in found.text
    assert found.concepts[0].count > 1
    assert 0 < found.concepts[0].weight <= 1
    assert found.source_ids
    assert all(one.startswith("c/") for one in found.source_ids)
    assert all(one.time is not None for one in found.turning_points)
    assert found.body["token_count"] > 0
    with pytest.raises(NotFoundError):
        await client.summary("short")
    with pytest.raises(NotFoundError):
        await client.summary("c", version=99)


async def test_a_correction_names_the_version_that_it_is_of(client: palimpsest.AsyncClient) -> None:
    """J-6: compared and set."""
    newest = await client.summary("c")
    made = await client.correct_summary(
        "c", {"objective": ["Ann wants tin."], "relevant_files": [FILE]}, version=newest.version
    )
    assert (made.version, made.corrected) == (newest.version + 1, True)
    assert [one.text for one in made.sections["objective"]] == ["Ann wants tin."]
    assert [one.text for one in made.sections["relevant_files"]] == [FILE]
    assert made.sections["completed"] == ()
    assert made.concepts == newest.concepts, "they follow the messages"
    with pytest.raises(VersionConflictError) as caught:
        await client.correct_summary("c", {"objective": ["Another."]}, version=newest.version)
    assert caught.value.metadata["current_version"] == str(made.version)
    with pytest.raises(ValueError, match="no sections of a summary: wishes"):
        await client.correct_summary("c", {"wishes": ["x"]}, version=made.version)  # type: ignore[dict-item]
    listed = [one.version async for one in client.summary_versions("c", page_size=1)]
    assert listed == list(range(made.version, 0, -1))


async def test_copies_of_documents_are_filled_again(client: palimpsest.AsyncClient, run: Run) -> None:
    """K-2: page by page."""
    done = await client.rebuild_documents(page_size=1)
    assert done.document_count >= 1
    every = await client.rebuild_documents(all_agents=True)
    assert every.document_count >= done.document_count
    assert " values written to the cache\n" in (await run("summary", "rebuild")).stdout


async def test_the_command_shows_a_summary(run: Run) -> None:
    shown = (await run("summary", "show", "c", "--version", "1")).stdout
    first, title, *_ = shown.splitlines()
    assert first.startswith("version 1 of ")
    assert f"{SAID} messages up to {SAID}" in first
    assert "by extractive" in first
    assert first.endswith(" sources")
    assert title == "Harbours"
    assert "\nconcepts: " in shown
    plain = (await run("summary", "show", "c", "--version", "1", "--text")).stdout
    assert plain.startswith("## ")
    document = json.loads((await run("summary", "show", "c", "--version", "1", "--json")).stdout)
    assert document["text"] == plain.rstrip("\n")
    assert [*document["sections"]][-1] == "relevant_files"
    assert (await run("summary", "versions", "c")).stdout.splitlines()[-1].split()[0] == "1"
    assert json.loads((await run("summary", "versions", "c", "--json")).stdout)[-1]["version"] == 1
    assert await failed(run("summary", "show", "short")) == "error: no such summary: short"


async def test_single_sections_are_corrected(run: Run, client: palimpsest.AsyncClient) -> None:
    before = await client.summary("c")
    done = await run(
        "summary", "correct", "c", "--section", "blocked", "No ship.", "--section", "blocked", "No rope.",
        "--clear", "next_move",
    )  # fmt: skip
    assert done.stdout == f"corrected: version {before.version + 1}\n"
    after = await client.summary("c")
    assert [one.text for one in after.sections["blocked"]] == ["No ship.", "No rope."]
    assert after.sections["next_move"] == ()
    assert after.sections["objective"] == before.sections["objective"]
    old = ("--version", str(before.version))
    assert "version" in await failed(run("summary", "correct", "c", "--section", "blocked", "x", *old))
    assert ", corrected, " in (await run("summary", "show", "c")).stdout


async def test_what_show_prints_is_what_correct_takes(run: Run, client: palimpsest.AsyncClient) -> None:
    """Lines that stay keep their days."""
    before = await client.summary("c")
    plain = (await run("summary", "show", "c", "--text")).stdout
    version = ("--version", str(before.version))
    done = await run("summary", "correct", "c", "-", *version, given=f"{plain}## Next Move\n- Buy rope.\n")
    assert done.stdout == f"corrected: version {before.version + 1}\n", done.output
    after = await client.summary("c")
    changed = {name: lines for name, lines in after.sections.items() if lines != before.sections[name]}
    assert list(changed) == ["next_move"]
    assert changed["next_move"][-1].text == "Buy rope."

    whole = (await run("summary", "show", "c", "--json")).stdout
    again = ("--version", str(after.version))
    assert (await run("summary", "correct", "c", "-", *again, given=whole)).exit_code == 0
    assert (await client.summary("c")).sections == after.sections
    lines = json.dumps({"completed": ["All is sold."]})
    alone = ("--version", str(after.version + 1))
    made = json.loads((await run("summary", "correct", "c", "-", *alone, "--json", given=lines)).stdout)
    assert made["sections"]["completed"] == [
        {"text": "All is sold.", "day": made["sections"]["completed"][0]["day"]}
    ]
    assert (await client.summary("c")).sections["next_move"] == ()


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("## Wishes\n- x\n", "error: no section of a summary: ## Wishes"),
        ("Some words.\n", 'error: no heading, and no line that begins with "- ": Some words.'),
        ('{"wishes": []}', "error: no section of a summary, with a list of lines: wishes"),
        ('{"objective": [1]}', "error: a line of a summary is a text, or an object with one"),
        ('{"objective": ', "error: the file is not JSON"),
        ("", "error: sections: hold no statement"),
    ],
)
async def test_a_file_that_is_no_summary_is_refused(run: Run, given: str, line: str) -> None:
    newest = json.loads((await run("summary", "versions", "c", "--json")).stdout)[0]["version"]
    done = run("summary", "correct", "c", "-", "--version", str(newest), given=given)
    assert await failed(done) == line


async def test_a_correction_needs_lines_and_with_a_file_its_version(run: Run) -> None:
    for arguments in (("c",), ("c", "-"), ("c", "-", "--version", "1", "--clear", "blocked")):
        assert (await run("summary", "correct", *arguments, given="## Objective\n- x\n")).exit_code == 2
