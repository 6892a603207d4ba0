"""Messages, versions and warnings as the commands print them."""

from __future__ import annotations

from collections.abc import Sequence

from palimpsest.cli.output import say
from palimpsest.cli.session import day, one_line
from palimpsest.models import Attachment, ChannelFailure, Message, SummaryVersion, ToolResult, WikiVersion

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


def version_line(one: SummaryVersion | WikiVersion) -> str:
    """A version of a document, without its text."""
    return f"{one.version:4}  {day(one.create_time)}  {one.size_bytes:7} bytes  {one.engine}"


def warn(failures: Sequence[ChannelFailure]) -> None:
    """Tells on standard error what recall, or a prompt, had to do without."""
    for failure in failures:
        what = f"the channel {failure.channel} gave nothing: " if failure.channel else ""
        say(f"warning: {what}{failure.cause}", err=True)
