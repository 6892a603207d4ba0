"""Messages as the commands print them."""

from __future__ import annotations

from palimpsest.cli.output import say
from palimpsest.cli.session import day, one_line
from palimpsest.models import Attachment, Message, ToolResult

MESSAGE_WIDTH = 300


def words(message: Message) -> str:
    """The text of a message; of one without text, what there is to read."""
    if message.text:
        return message.text
    results = [part.content for part in message.parts if isinstance(part, ToolResult)]
    captions = [part.caption or part.uri for part in message.parts if isinstance(part, Attachment)]
    return " ".join(results + captions)


def print_message(message: Message, mark: str = "") -> None:
    """Two lines: who, when and which; and the beginning of what was said."""
    head = f"{message.author or message.role}, {day(message.time)}, {message.id}"
    say(f"[{message.depth}] {head}{mark}\n    {one_line(words(message), MESSAGE_WIDTH)}")
