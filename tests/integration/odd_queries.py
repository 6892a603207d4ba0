"""Queries that an engine, a shell or a template might take for more than words, for tests (SPEC X-1)."""

from __future__ import annotations

WORDS_OF_ENGINES = (
    # SQLite's FTS5
    'herons"',
    '""',
    '"herons',
    "herons AND",
    "herons OR hidden",
    "NOT herons",
    "NEAR(herons hidden, 2)",
    "herons*",
    "^herons",
    "terms:herons",
    "{terms bucket} : hidden",
    "bucket : hidden + place : hidden",
    "-terms : herons",
    "(herons",
    # SQL
    "'; DROP TABLE memories; --",
    '" OR 1=1 --',
    "%",
    "_",
    "\\",
    # Meilisearch
    'contact_id = "hidden" OR contact_id EXISTS',
    "-plain herons",
    '"hidden herons"',
    "_geoRadius(1, 2, 3)",
    "herons NOT IN [hidden]",
    # Qdrant
    '{"must": []}',
    '{"filter": {"must_not": [{"key": "contact", "match": {"value": ""}}]}}',
    # shells, templates, formats
    "$(reboot) `id` ${HOME}",
    "{{7*7}} %s %n {0.__class__}",
    "../../etc/passwd",
    "<script>alert(1)</script>",
)
WITHOUT_WORDS = (
    "the of and",
    "?!…",
    " ",
    "\n\t",
    "-",
    '"',
    "*",
    ".",
    "_._",
    "🙂",
    "👩‍👩‍👧",
    "\u0301",
    "\u200b",
)
ODD = (
    "\u0301",
    "\u200b",
    "herons\0hidden",
    "\0",
    "\ufeffherons",
    "\u202eherons\u202c",
    "طيور البلشون",
    "ציפורים",
    "鷺について",
    "h\u0301e\u0300r\u0308o\u0303n\u0331s" * 30,
    "\x01\x1b[31mherons",
    "🦩" * 256,
    "é" * 512,
    "herons " * 146,
    "x" * 1024,
    "\U0010ffff",
)
ODD_QUERIES = (*WORDS_OF_ENGINES, *WITHOUT_WORDS, *ODD)
