"""`palimpsest chat`: a conversation with a model that remembers."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, aclosing
from typing import Any, TypeVar

import click

from palimpsest.cli.agents import ensure_agent, ensure_conversation
from palimpsest.cli.chat_endpoint import Endpoint, EndpointTalk
from palimpsest.cli.chat_talk import SuiteTalk, Talk
from palimpsest.cli.failure import Failure
from palimpsest.cli.output import say
from palimpsest.cli.session import Connection, connected, explain, one_line
from palimpsest.cli.texts import warn
from palimpsest.errors import NotFoundError, PalimpsestError
from palimpsest.models import (
    ChatEvent,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)

QUIT, MEMORY, HELP = "/quit", "/memory", "/help"
PROMPT = "> "
WIDTH = 200
HELP_TEXT = f"{MEMORY} shows what was recalled for the last answer, {QUIT} ends; Ctrl-C interrupts an answer."

ResultT = TypeVar("ResultT")


@click.command("chat")
@click.argument("conversation_id", metavar="CONVERSATION")
@click.option("--author", default="", help="Who you are.")
@click.option("--no-tools", is_flag=True, help="Give the model no tools.")
@click.option(
    "--url", help="Ask this OpenAI-compatible endpoint (up to and with /v1), not the suite's model."
)
@click.option("--model", help="What the endpoint calls the model; with --url.")
@click.option("--key-env", metavar="VAR", help="The environment variable that holds the endpoint's key.")
@connected
def command(
    connection: Connection,
    conversation_id: str,
    author: str,
    no_tools: bool,
    url: str | None,
    model: str | None,
    key_env: str | None,
) -> None:
    """Talk in CONVERSATION, which is made if it is missing.

    The suite's model answers (docs/models.md), or with --url an endpoint that this command asks itself,
    around the suite's memory. Each line is a message; /memory shows what was recalled, /quit ends, Ctrl-C
    interrupts an answer, which is kept as far as it came. From a pipe, each line is a message, and the
    answers are printed.
    """
    endpoint = _endpoint(url, model, key_env)
    with asyncio.Runner() as runner:
        chat = Chat(runner, connection, conversation_id, author, endpoint, use_tools=not no_tools)
        try:
            chat.open()
            if sys.stdin.isatty():
                chat.interactive()
            else:
                chat.piped()
        finally:
            chat.close()


def _endpoint(url: str | None, model: str | None, key_env: str | None) -> Endpoint | None:
    if url is None:
        if model or key_env:
            raise Failure("--model and --key-env go with --url")
        return None
    if not model:
        raise Failure("--url needs --model")
    key = os.environ.get(key_env, "") if key_env else ""
    if key_env and not key:
        raise Failure(f"the environment variable {key_env} is not set")
    return Endpoint(url=url, model=model, key=key)


class Chat:
    """The command while it runs; all calls are made in one loop, one turn after the other."""

    def __init__(
        self,
        runner: asyncio.Runner,
        connection: Connection,
        conversation_id: str,
        author: str,
        endpoint: Endpoint | None,
        *,
        use_tools: bool,
    ) -> None:
        self._runner = runner
        self._conversation_id = conversation_id
        self._author = author
        self._endpoint = endpoint
        self._use_tools = use_tools
        self._client = connection.client()
        self._stack = AsyncExitStack()
        self._recalled = TurnStarted(
            user_message_id="",
            system_prompt_revision=0,
            unindexed=(),
            failures=(),
            memory_ids=(),
            messages=(),
            replayed=False,
        )

    def open(self) -> None:
        """Connects, and makes what is missing."""
        self._talk = self._run(self._opened())

    def close(self) -> None:
        """Disconnects."""
        self._runner.run(self._stack.aclose())

    async def _opened(self) -> Talk:
        client = await self._stack.enter_async_context(self._client)
        await ensure_agent(client)
        await ensure_conversation(client, self._conversation_id, "")
        if self._endpoint is None:
            return SuiteTalk(client, self._conversation_id, self._author, use_tools=self._use_tools)
        talk = EndpointTalk(client, self._conversation_id, self._author, self._endpoint)
        self._stack.push_async_callback(talk.close)
        return talk

    def piped(self) -> None:
        """Each line of standard input a message; the first failure ends it."""
        for line in sys.stdin:
            if not self._take(line.strip()):
                return

    def interactive(self) -> None:
        """Until /quit or the end of input; failures are told and the chat goes on."""
        say(HELP_TEXT, err=True)
        for line in _typed():
            try:
                if not self._take(line):
                    return
            except Failure as failure:
                failure.show()

    def _take(self, line: str) -> bool:
        """One line of input; whether the chat goes on."""
        if line == QUIT:
            return False
        if line == HELP:
            say(HELP_TEXT)
        elif line == MEMORY:
            self._run(self._show_recalled())
        elif line:
            self._answer(line)
        return True

    def _answer(self, text: str) -> None:
        try:
            self._run(self._turn(text))
        except KeyboardInterrupt:  # the turn was cancelled, and what came of it is stored
            say("\n(interrupted)", err=True)

    async def _turn(self, text: str) -> None:
        async with aclosing(self._talk.turn(text)) as events:
            async for event in events:
                self._show(event)

    def _show(self, event: ChatEvent) -> None:
        match event:
            case TurnStarted():
                self._recalled = event
                warn(event.failures)
            case TextDelta(text=text):
                say(text, nl=False)
                sys.stdout.flush()
            case ToolCallStarted(call=call):
                say(f"[{call.name} {one_line(str(dict(call.arguments)), WIDTH)}]", err=True)
            case ToolCallFinished():
                mark = "failed: " if event.is_error else ""
                say(f"[{mark}{one_line(event.preview, WIDTH)}]", err=True)
            case TurnFinished():
                say()
                if event.interruption is not None:
                    say(f"(broken off: {event.interruption.cause or 'unknown'})", err=True)
                elif event.truncated:
                    say("(cut: the answer reached its greatest length)", err=True)

    async def _show_recalled(self) -> None:
        recalled = self._recalled
        if not recalled.memory_ids and not recalled.messages:
            say("nothing was recalled")
        for memory_id in recalled.memory_ids:
            try:
                memory = await self._client.get_memory(memory_id)
            except NotFoundError:
                continue  # forgotten meanwhile
            say(f"memory {memory.key}: {one_line(memory.value, WIDTH)}")
        for ref in recalled.messages:
            message = await self._client.get_message(ref.conversation_id, ref.message_id)
            who = message.author or message.role
            say(f"message {who}, {message.time:%Y-%m-%d}: {one_line(message.text, WIDTH)}")

    def _run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        """What a call raises becomes a Failure; Ctrl-C cancels the work and is raised once that has ended."""
        try:
            return self._runner.run(work)
        except (PalimpsestError, ValueError) as error:
            raise Failure(explain(error, self._client.target)) from error


def _typed(ask: Callable[[str], str] = input) -> Iterator[str]:
    """Lines as they are typed; Ctrl-C clears one, Ctrl-D ends."""
    while True:
        try:
            yield ask(PROMPT).strip()
        except EOFError:
            say()
            return
        except KeyboardInterrupt:
            say()
