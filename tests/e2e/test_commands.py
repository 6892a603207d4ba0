"""The commands of the README against a suite that runs, as a user types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.suite import Suite

EXAMPLE = Path(__file__).parents[2] / "examples" / "conversation.jsonl"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    made = Suite(tmp_path_factory.mktemp("commands") / "data")
    made.start()
    yield made
    made.stop()


def run(suite: Suite, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "palimpsest", *words],
        env=os.environ | {"PALIMPSEST_DATA": str(suite.data)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_transcript_goes_in_and_is_found_again(suite: Suite) -> None:
    first = run(suite, "ingest", str(EXAMPLE), "--wait")
    assert first.returncode == 0, first.stderr
    assert "113 of them new" in first.stdout
    assert "0 of them new" in run(suite, "ingest", str(EXAMPLE)).stdout
    found = run(suite, "recall", "How does Marta drink her coffee now?", "--messages", "--explain")
    assert found.returncode == 0, found.stderr
    assert "black filter coffee" in found.stdout.splitlines()[1]
    assert "vector rank 1" in found.stdout
    prompt = run(suite, "prompt", "Order my usual", "--conversation", "conversation")
    assert prompt.stdout.rstrip().endswith("Order my usual")


def test_a_memory_is_written_found_and_forgotten(suite: Suite) -> None:
    assert run(suite, "remember", "pet.name", "the cat is called Pixel").returncode == 0
    memories = run(suite, "memories", "--json")
    assert "Pixel" in memories.stdout
    json.loads(memories.stdout.splitlines()[0] if "\n{" in memories.stdout else memories.stdout)
    assert run(suite, "forget", "pet.name").returncode == 0
    assert "Pixel" not in run(suite, "memories").stdout
    assert run(suite, "forget", "pet.name").returncode == 1


def test_bad_lines_are_named_and_nothing_of_the_file_is_stored(suite: Suite, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    for line, what in (
        (b'{"role":"user","content":"b\\u0000"}', "NUL"),
        (b"\xff", "UTF-8"),
        (b'{"role"', "JSON"),
    ):
        bad.write_bytes(b'{"role":"user","content":"fine"}\n' + line + b"\n")
        done = run(suite, "ingest", str(bad), "--conversation", "bad")
        assert done.returncode == 1
        assert f"{bad}:2:" in done.stderr
        assert what in done.stderr
        assert "Traceback" not in done.stderr
    assert run(suite, "prompt", "hi", "--conversation", "bad").returncode == 1, "it was never made"
    skipped = run(suite, "ingest", str(bad), "--conversation", "bad", "--skip-bad")
    assert skipped.returncode == 0
    assert "1 of them new" in skipped.stdout


def test_status_and_jobs_tell_how_things_stand(suite: Suite) -> None:
    status = run(suite, "status")
    assert "all-MiniLM-L6-v2" in status.stdout
    assert "0 dead" in status.stdout
    assert run(suite, "jobs", "list").returncode == 0
    assert run(suite, "jobs", "retry", "nothing").returncode == 1
    assert run(suite, "nonsense").returncode == 2
