"""`palimpsest prompt`: assembles the prompt of the next turn."""

from __future__ import annotations

import click

from palimpsest.cli.session import Connection, connected, json_option, print_json
from palimpsest.client import AsyncClient
from palimpsest.models import Prompt


@click.command("prompt")
@click.argument("message")
@click.option("--conversation", "conversation_id", required=True, help="The conversation that goes on.")
@click.option("--budget", type=click.IntRange(100, 2_000_000), help="Most tokens.  [default: the server's]")
@click.option("--author", default="", help="Who writes the message.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "openai", "anthropic", "layers"]),
    default="text",
    show_default=True,
    help="One text, messages as JSON for a model's API, or what each layer used.",
)
@json_option
@connected
def command(
    connection: Connection,
    message: str,
    conversation_id: str,
    budget: int | None,
    author: str,
    form: str,
    as_json: bool,
) -> None:
    """Assemble the prompt for the user's new MESSAGE, which is not stored."""

    async def work(client: AsyncClient) -> Prompt:
        return await client.assemble_prompt(
            conversation_id, message, budget_tokens=budget or 0, author=author
        )

    prompt = connection.run(work)
    if as_json:
        print_json(prompt)
    else:
        _print(prompt, form)
    for failure in prompt.failures:
        click.echo(f"warning: the channel {failure.channel} gave nothing: {failure.cause}", err=True)


def _print(prompt: Prompt, form: str) -> None:
    if form == "openai":
        print_json([message.as_dict() for message in prompt.openai_messages])
    elif form == "anthropic":
        turns = [message.as_dict() for message in prompt.anthropic_messages]
        print_json({"system": prompt.anthropic_system, "messages": turns})
    elif form == "layers":
        for layer in prompt.layers:
            shown = f"{len(layer.memory_ids)} memories, {len(layer.messages)} messages"
            if layer.overlay_ids:
                shown += f", {len(layer.overlay_ids)} overlays"
            left_out = f", {layer.omitted_count} left out" if layer.omitted_count else ""
            click.echo(f"{layer.kind:10}{layer.token_count:7} of {layer.budget_tokens:7}  {shown}{left_out}")
        click.echo(f"{'total':10}{prompt.token_count:7} of {prompt.budget_tokens:7}")
    else:
        click.echo(prompt.text)
