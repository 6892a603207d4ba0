"""The table of jobs that a terminal shows."""

from __future__ import annotations

import io

from rich.console import Console

from palimpsest.cli.jobs import table
from palimpsest.models import Job, JobCounts


def test_the_table_names_attempts_and_errors_and_reads_no_markup() -> None:
    job = Job(
        id="j1",
        type="index_message",
        agent_id="ada",
        subject="conversations/[red]c",
        state="failed",
        attempt=2,
        max_attempts=5,
        progress=0.0,
        error="DEPENDENCY_DOWN: the Embedder\nis away",
        create_time=None,
        update_time=None,
        finish_time=None,
        not_before_time=None,
        lease_expire_time=None,
        result_ids=(),
        revision=1,
        engine="grammar-1",
    )
    counts = JobCounts(queued=3, running=1, failed=1, dead=2, succeeded=7, cancelled=0)
    out = io.StringIO()
    Console(file=out, width=200).print(table([job], counts))
    shown = out.getvalue()
    assert "5 left, 2 dead, 7 done" in shown
    assert "2/5" in shown
    assert "grammar-1" in shown
    assert "DEPENDENCY_DOWN: the Embedder is away" in shown
    assert "ada/conversations/[red]c" in shown
