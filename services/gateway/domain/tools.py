"""The tools that a model is given: their names, words and schemas (SPEC G-6, W-6).

Bounds are those of the calls that a tool makes. A bound on a text's length counts bytes of UTF-8, as those
calls count: the schema can only say as many characters, and arguments are held against both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from services.kit.identity import Role

NAME_PATTERN = r"^[a-zA-Z0-9_-]{1,64}$"  # what Anthropic and OpenAI take
KEY_PATTERN = r"^[a-z0-9._:-]{1,200}$"
VALUE_BYTES = 8192
QUERY_BYTES = 1024
TEXT_BYTES = 1_048_576
PAGE_TOKEN_LENGTH = 1024
MAX_LIMIT = 100
DEFAULT_LIMIT = 10

CATEGORIES = (
    *(
        "fact",
        "preference",
        "identity",
        "relationship",
        "decision",
        "reflection",
        "event",
        "workflow_outcome",
    ),
    *("workflow_failure", "instruction", "skill", "task"),
)
"""The fact types (S-2)."""
MODES = ("semantic", "keyword", "hybrid")
ROLES = ("user", "assistant", "tool", "system")
DOCUMENT_TYPES = ("summary", "page", "branch", "theme")
CONTACT, CONVERSATION, ALL = "contact", "conversation", "all"

CONTEXT_LEAST = {
    "load_context": Role.WRITER,
    "search_context": Role.READER,
    "set_context": Role.WRITER,
    "unload_context": Role.WRITER,
}
"""The tools of context blocks (W-6) that are known here, and the least role of each."""

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool: its arguments are `properties`, each a JSON Schema; `least` is who may call it."""

    name: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    least: Role

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments (draft 2020-12)."""
        return {
            "type": "object",
            "properties": {name: dict(each) for name, each in self.properties.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing that a caller has stored."""
        return self.least is Role.READER


def own_tools(*, with_contact: bool) -> tuple[ToolSpec, ...]:
    """Those of every conversation, by name. In one with a contact no argument reaches beyond that person."""
    scopes = (CONTACT, CONVERSATION) if with_contact else (CONVERSATION, ALL)
    return (_CLEAR_TASK, _GET_TASK, _RECALL, _recall_conversation(scopes), *_REST)


def _text(description: str, most: int, *, least: int = 1) -> Schema:
    return {"type": "string", "description": description, "minLength": least, "maxLength": most}


def _choice(description: str, *values: str) -> Schema:
    return {"type": "string", "description": description, "enum": list(values)}


def _limit(description: str) -> Schema:
    return {"type": "integer", "description": description, "minimum": 1, "maximum": MAX_LIMIT}


def _key(description: str) -> Schema:
    return {"type": "string", "description": description, "pattern": KEY_PATTERN}


_HITS = _limit(f"Most results; {DEFAULT_LIMIT} if left out.")

_REMEMBER = ToolSpec(
    name="remember",
    description=(
        "Stores one lasting statement about the person or the work, so that later conversations know it."
        " Use it when you learn something that will still matter tomorrow, or are asked to remember. The"
        " same key again with another value replaces the statement; the old one stays in its history. Not"
        " for what only this conversation needs (set_notes), nor for what is remembered already. Never"
        " store passwords or keys."
    ),
    properties={
        "key": _key(
            "A short name, such as 'ann.coffee' or 'project.deadline': lower case, dots between words."
        ),
        "value": _text(
            "The statement, a whole sentence that is understood without this conversation.", VALUE_BYTES
        ),
        "category": _choice(
            "What kind of statement it is; 'fact' if left out. An 'instruction' says how you should behave, a"
            " 'task' is to be done and is forgotten after a week.",
            *CATEGORIES,
        ),
    },
    required=("key", "value"),
    least=Role.WRITER,
)
_RECALL = ToolSpec(
    name="recall",
    description=(
        "Reads what is remembered under a key: the person's own, else what holds for everybody. Without a"
        " key it lists the memories by key, some at a time and shortened. Use it when you know the key, or"
        " to see what there is; to find memories by what they say use search_memory."
    ),
    properties={
        "key": _key("The key. Leave it out to list."),
        "page_token": _text(
            "Goes on with a list: the next_page_token of the page before.", PAGE_TOKEN_LENGTH, least=0
        ),
    },
    least=Role.READER,
)
_SEARCH_MEMORY = ToolSpec(
    name="search_memory",
    description=(
        "Finds remembered statements by their meaning and words, best first. Use it before you say that you"
        " do not know something about the person or the work. For what was said word for word use"
        " recall_conversation."
    ),
    properties={
        "query": _text("What to look for, in a few words or a question.", QUERY_BYTES),
        "limit": _HITS,
    },
    required=("query",),
    least=Role.READER,
)
_SEARCH_DOCUMENTS = ToolSpec(
    name="search_documents",
    description=(
        "Finds what was made of earlier conversations: their summaries, the pages about recurring subjects,"
        " and the names of branches and themes. Use it for an overview of a subject or of past"
        " conversations; for single statements use search_memory, for exact words recall_conversation."
    ),
    properties={
        "query": _text("What to look for, in a few words or a question.", QUERY_BYTES),
        "types": {
            "type": "array",
            "description": "Only these kinds; all if left out.",
            "items": {"type": "string", "enum": list(DOCUMENT_TYPES)},
            "maxItems": len(DOCUMENT_TYPES),
        },
        "limit": _HITS,
    },
    required=("query",),
    least=Role.READER,
)
_SET_NOTES = ToolSpec(
    name="set_notes",
    description=(
        "Writes your notes on this conversation, which every further prompt of it shows. Use it for what"
        " you must keep in view while this conversation lasts: plans, open questions, intermediate results."
        " At most 2,000 tokens. Not for what should outlast the conversation (remember)."
    ),
    properties={
        "text": _text("The notes. With 'replace', an empty text clears them.", TEXT_BYTES, least=0),
        "action": _choice(
            "'replace' puts the text in the place of the notes, 'append' adds it as a line at their end;"
            " 'replace' if left out.",
            "replace",
            "append",
        ),
    },
    required=("text",),
    least=Role.WRITER,
)
_SET_TASK = ToolSpec(
    name="set_ongoing_task",
    description=(
        "Says what this conversation is about to get done, in the place of what was set before. Every further"
        " prompt shows it. Use it when work begins that takes several turns, and when its goal changes."
    ),
    properties={
        "text": _text("The task in words, with how far it has got. At most 2,000 tokens.", TEXT_BYTES)
    },
    required=("text",),
    least=Role.WRITER,
)
_GET_TASK = ToolSpec(
    name="get_ongoing_task",
    description="Reads the ongoing task of this conversation. Use it when the prompt does not show one.",
    properties={},
    least=Role.READER,
)
_CLEAR_TASK = ToolSpec(
    name="clear_ongoing_task",
    description="Ends the ongoing task of this conversation. Use it once the task is done or given up.",
    properties={},
    least=Role.WRITER,
)
_REST = (_REMEMBER, _SEARCH_DOCUMENTS, _SEARCH_MEMORY, _SET_NOTES, _SET_TASK)


def _recall_conversation(scopes: tuple[str, ...]) -> ToolSpec:
    words = {
        CONTACT: "'contact' all conversations with this person",
        CONVERSATION: "'conversation' this one only",
        ALL: "'all' every conversation that is with nobody in particular",
    }
    said = ", ".join(words[one] for one in scopes)
    return ToolSpec(
        name="recall_conversation",
        description=(
            "Finds messages of conversations as they were said, best first. Use it for exact words, who"
            " said what and when, or for what the prompt no longer shows. For lasting statements use"
            " search_memory."
        ),
        properties={
            "query": _text("What to look for, in a few words or a question.", QUERY_BYTES),
            "mode": _choice(
                "'semantic' by meaning, 'keyword' by words, 'hybrid' by both; 'hybrid' if left out.", *MODES
            ),
            "limit": _HITS,
            "role": _choice("Only messages of this role.", *ROLES),
            "scope": _choice(f"Where to look: {said}; '{scopes[0]}' if left out.", *scopes),
        },
        required=("query",),
        least=Role.READER,
    )
