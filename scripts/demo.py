"""`make run`: a real conversation through a fresh embedded suite; recall, overlays, the prompt, the jobs.

Everything goes over the wire, as an application would do it: the suite is a process of its own, this is a
client with an API key. The data folder is thrown away at the end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from palimpsest import Client, models
from palimpsest.client.transcripts import to_new_message
from palimpsest.endpoint import Endpoint, resolve
from palimpsest.transcripts import read_transcript

EXAMPLES = Path(__file__).parents[1] / "examples"
START_SECONDS = 60
STOP_SECONDS = 20
AGENT = "ada"
CONVERSATION = "marta-and-ada"
NEXT_MESSAGE = (
    "Can you order my usual coffee to the flat, and remind me what was wrong with the port parsing?"
)
PROMPT_TOKENS = 1500
SHOWN = 200
SHOWN_ORIGINALS = 2
NEVER = datetime.min.replace(tzinfo=UTC)

out = Console(highlight=False, soft_wrap=True)


def main() -> None:
    """Plays it through."""
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-run-") as folder,
        suite(Path(folder) / "data") as endpoint,
        Client(endpoint.target, api_key=endpoint.api_key, agent=AGENT) as client,
    ):
        title("1. A conversation is stored")
        make_agent(client)
        contact = client.resolve_contact("demo:marta", display_name="Marta Lindqvist")
        tokens = store(client, contact.id)
        title("2. It is indexed")
        wait(client, tokens)
        title("3. Recall: what was said")
        questions(client)
        title("4. Recall: what is known")
        known(client, contact.id)
        title("5. Summaries over the messages")
        overlays(client)
        title("6. Facts distilled from what was said")
        distilled(client, contact.id)
        title("7. The prompt of the next turn")
        prompt(client)
        title("8. The jobs behind it")
        jobs(client)
    out.print(
        f"\nDone in {time.monotonic() - started:.1f} s. Start a suite to keep: [bold]palimpsest up[/bold]"
    )


@contextmanager
def suite(data: Path) -> Iterator[Endpoint]:
    """`palimpsest up` over a fresh folder; where it listens, and its key."""
    command = [sys.executable, "-m", "palimpsest", "up", "--data", str(data), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + START_SECONDS
        while not (data / "endpoint.json").exists():
            if process.poll() is not None or time.monotonic() > until:
                sys.exit("error: the suite did not start")
            time.sleep(0.05)
        yield resolve(data_dir=data)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def make_agent(client: Client) -> None:
    """The assistant of the example."""
    client.create_agent(
        AGENT,
        display_name="Ada",
        system_prompt="You are Ada, assistant to Marta Lindqvist. Be brief and warm.",
    )


def store(client: Client, contact_id: str) -> list[models.FreshnessToken | None]:
    """The transcript, twice to show that the second time adds nothing; then explicit memories."""
    client.create_conversation(CONVERSATION, contact_id=contact_id, title="Marta and Ada")
    with (EXAMPLES / "conversation.jsonl").open("rb") as file:
        messages = [to_new_message(message) for message in read_transcript(file)]
    first = client.ingest(CONVERSATION, messages)
    again = client.ingest(CONVERSATION, messages)
    out.print(f"{first.created_count} messages stored; sent again, {again.created_count} more")
    tokens = [first.token]
    for row in json.loads((EXAMPLES / "memories.json").read_text("utf-8")):
        remembered = client.remember(
            row["key"],
            row["value"],
            fact_type=row["fact_type"],
            contact_id=contact_id if row["contact"] == "Marta" else "",
        )
        tokens.append(remembered.token)
    out.print(f"{len(tokens) - 1} memories written")
    return tokens


def wait(client: Client, tokens: list[models.FreshnessToken | None]) -> None:
    """Until everything can be recalled."""
    began = time.monotonic()
    client.wait_indexed(*tokens)
    conversation = client.get_conversation(CONVERSATION)
    out.print(
        f"{conversation.indexed_count} of {conversation.stored_count} messages and all memories"
        f" can be recalled, after {time.monotonic() - began:.1f} s"
    )


def questions(client: Client) -> None:
    """Three questions, each with why its hits ranked."""
    asked_at = max(m.time for m in client.messages(CONVERSATION, newest_first=True, page_size=1) if m.time)
    for question in json.loads((EXAMPLES / "questions.json").read_text("utf-8")):
        out.print(f"\n[bold]{question['text']}[/bold]  ({question['about']})")
        found = client.recall_conversation(
            question["text"],
            conversation_id=CONVERSATION,
            limit=3,
            reference_time=asked_at + timedelta(days=1),
        )
        for place, hit in enumerate(found.hits, start=1):
            mark = " [green]✓[/green]" if hit.message.id in question["evidence"] else ""
            out.print(
                f" {place}.{mark} {hit.message.id}, {hit.message.author}: {shown(text_of(hit.message))}"
            )
            out.print(f"    [dim]{why(hit.explanation)}[/dim]")


def known(client: Client, contact_id: str) -> None:
    """Memories, among them one that supersedes another."""
    client.remember(
        "marta.desk", "Marta sits at the desk by the window.", fact_type="preference", contact_id=contact_id
    )
    newer = client.remember(
        "marta.desk",
        "Marta moved to the quiet desk in the library.",
        fact_type="preference",
        contact_id=contact_id,
    )
    query = "Which desk does Marta like?"
    found = client.recall(query, contact_id=contact_id, limit=2, wait_for=[newer.token])
    out.print(f"[bold]{query}[/bold]  (written twice: the newer version supersedes)")
    for place, hit in enumerate(found.hits, start=1):
        out.print(f" {place}. {hit.memory.key} v{hit.memory.version}: {shown(hit.memory.value)}")
        out.print(f"    [dim]{why(hit.explanation)}[/dim]")


def overlays(client: Client) -> None:
    """What the jobs have laid over older messages, and the originals beneath."""
    for _ in client.watch_jobs(agent_id=AGENT, until_idle=True):
        pass
    for page in client.render(CONVERSATION, page_size=1000):
        for one in page.ranges:
            if one.overlay is None:
                out.print(f"{len(one.messages)} messages under no summary")
                continue
            overlay = one.overlay
            out.print(
                f"messages {overlay.from_depth} to {overlay.to_depth}: {overlay.message_tokens} tokens"
                f" told in {overlay.token_count}, by {overlay.model}"
            )
            for line in overlay.summary.splitlines():
                out.print(f"  │ {shown(line)}", style="cyan")
            for message in one.messages[:SHOWN_ORIGINALS]:
                out.print(f"    [dim]{message.id}, {message.author}: {shown(text_of(message))}[/dim]")
            out.print(f"    [dim]… all {len(one.messages)} are there, to the letter[/dim]")


def distilled(client: Client, contact_id: str) -> None:
    """The memories that no application wrote: what people stated, and the message in which they did."""
    stated = [
        memory
        for memory in client.memories(contact_id=contact_id)
        if memory.source in ("turn", "pre_compaction")
    ]
    for memory in sorted(stated, key=lambda one: one.valid_from_time or one.create_time or NEVER):
        said_in = ", ".join(ref.message_id for ref in memory.provenance)
        out.print(f" {memory.value}")
        out.print(
            f"    [dim]{memory.key}, {memory.fact_type}, source {memory.source},"
            f" confidence {memory.confidence:.1f}, from {said_in}[/dim]"
        )
    out.print(f"{len(stated)} live memories; none was written by hand, no model read the text")


def prompt(client: Client) -> None:
    """The prompt with its layers, tokens and sources."""
    client.set_task(CONVERSATION, "Marta settles into the flat: coffee to be ordered, housewarming on 9 May.")
    made = client.assemble_prompt(CONVERSATION, NEXT_MESSAGE, author="Marta", budget_tokens=PROMPT_TOKENS)
    table = Table("layer", "tokens", "of at most", "memories", "messages", "summaries", "left out", box=None)
    for layer in made.layers:
        ids = ", ".join(ref.message_id for ref in layer.messages)
        counts = (str(layer.token_count), str(layer.budget_tokens))
        table.add_row(
            layer.kind,
            *counts,
            str(len(layer.memory_ids)),
            shown(ids, 50),
            str(len(layer.overlay_ids)),
            str(layer.omitted_count),
        )
    out.print(table)
    out.print(f"{made.token_count} of {made.budget_tokens} tokens\n")
    out.print(made.text, markup=False, style="cyan")


def jobs(client: Client) -> None:
    """What the ledger says."""
    counts = client.status().jobs
    out.print(
        f"{counts.succeeded} succeeded, {counts.queued} queued, {counts.running} running,"
        f" {counts.failed} between attempts, {counts.dead} given up"
    )


def why(explanation: models.Explanation) -> str:
    """A hit's ranks, scores and signals in a line."""
    parts = [f"{c.channel} #{c.rank} ({c.score:.2f}) +{c.contribution:.2f}" for c in explanation.channels]
    parts += [f"{s.name} {s.contribution:+.2f}" for s in explanation.signals]
    return f"{explanation.score:.2f} = " + ", ".join(parts)


def text_of(message: models.Message) -> str:
    """What a message says."""
    return " ".join(filter(None, (_words(part) for part in message.parts)))


def _words(part: Any) -> str:
    return str(getattr(part, "text", "") or getattr(part, "content", "") or getattr(part, "caption", ""))


def shown(text: str, length: int = SHOWN) -> str:
    """On one line, cut."""
    line = " ".join(text.split()).replace("[", r"\[")
    return line if len(line) <= length else line[: length - 1] + "…"


def title(text: str) -> None:
    """A heading."""
    out.print(f"\n[bold yellow]{text}[/bold yellow]")


if __name__ == "__main__":
    main()
