"""`palimpsest prompt`: assembles the prompt of the next turn."""

from __future__ import annotations

from collections.abc import Iterator

import click

from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, json_option, print_json
from palimpsest.cli.texts import warn
from palimpsest.client import AsyncClient
from palimpsest.models import Layer, Prompt


@click.command("prompt")
@click.argument("message")
@click.option("--conversation", "conversation_id", required=True, help="The conversation that goes on.")
@click.option("--budget", type=click.IntRange(100, 2_000_000), help="Most tokens.  [default: the server's]")
@click.option("--author", default="", help="Who writes the message.")
@click.option("--model", default="", help="Count this model's tokens, if the server has its tokenizer.")
@click.option(
    "--attractor-version",
    type=click.IntRange(1),
    help="The version of the attractor to use.  [default: the pinned one, else the newest]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "openai", "anthropic", "layers"]),
    default="text",
    show_default=True,
    help="One text, messages as JSON for a model's API, or each layer's tokens and sources.",
)
@json_option
@connected
def command(
    connection: Connection,
    message: str,
    conversation_id: str,
    budget: int | None,
    author: str,
    model: str,
    attractor_version: int | None,
    form: str,
    as_json: bool,
) -> None:
    """Assemble the prompt for the user's new MESSAGE, which is not stored."""

    async def work(client: AsyncClient) -> Prompt:
        return await client.assemble_prompt(
            conversation_id,
            message,
            budget_tokens=budget or 0,
            author=author,
            model=model,
            attractor_version=attractor_version or 0,
        )

    prompt = connection.run(work)
    if as_json:
        print_json(prompt)
    else:
        _print(prompt, form)
    warn(prompt.failures)


def _print(prompt: Prompt, form: str) -> None:
    if form == "openai":
        print_json([message.as_dict() for message in prompt.openai_messages])
    elif form == "anthropic":
        turns = [message.as_dict() for message in prompt.anthropic_messages]
        print_json({"system": prompt.anthropic_system, "messages": turns})
    elif form == "layers":
        for layer in prompt.layers:
            left_out = f"  {layer.omitted_count} messages left out" if layer.omitted_count else ""
            say(f"{layer.kind:10}{layer.token_count:7} of {layer.budget_tokens:7}{left_out}".rstrip())
            for source in _sources(layer, prompt):
                say(f"    {source}")
        how = "counted" if prompt.exact_tokens else "estimated"
        say(f"{'total':10}{prompt.token_count:7} of {prompt.budget_tokens:7}  tokens are {how}")
    else:
        say(prompt.text)


def _sources(layer: Layer, prompt: Prompt) -> Iterator[str]:
    """What a layer came from, a line each, with versions."""
    if layer.kind == "system" and prompt.system_prompt_revision:
        yield f"system prompt, revision {prompt.system_prompt_revision}"
    if layer.attractor_version:
        yield f"attractor, version {layer.attractor_version}"
    if layer.summary_version:
        yield f"rolling summary, version {layer.summary_version}"
    yield from (f"memory {memory_id}" for memory_id in layer.memory_ids)
    yield from (f"message {ref.conversation_id}/{ref.message_id}" for ref in layer.messages)
    yield from (f"overlay {overlay_id}" for overlay_id in layer.overlay_ids)
    for document in layer.documents:
        version = f", version {document.version}" if document.version else ""
        yield f"{document.type} {document.document_id}{version}: {document.title}"
    if layer.working is not None:
        yield from _working_sources(layer)


def _working_sources(layer: Layer) -> Iterator[str]:
    working = layer.working
    assert working is not None
    if working.task:
        yield "the ongoing task"
    if working.notes_version:
        yield f"notes, version {working.notes_version}"
    yield from (f"entry {entry}" for entry in working.entries)
    if working.turn_id:
        yield f"interrupted turn {working.turn_id}, {working.result_count} results"
