-- Everything here is derived: deleting the file loses nothing (SV-2).

CREATE TABLE index_facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- What is indexed, and what recall knows of it. `class` is "message" or "memory".
CREATE TABLE items (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    class TEXT NOT NULL,
    item_id TEXT NOT NULL,
    contact_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL DEFAULT '',
    sequence INTEGER NOT NULL DEFAULT 0,
    message_id TEXT NOT NULL DEFAULT '',
    role INTEGER NOT NULL DEFAULT 0,
    author TEXT NOT NULL DEFAULT '',
    session TEXT NOT NULL DEFAULT '',
    time INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tenant, agent_id, class, item_id)
);

CREATE INDEX items_place ON items (tenant, agent_id, conversation_id, sequence);

-- Who speaks in the indexed messages.
CREATE TABLE authors (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    contact_id TEXT NOT NULL,
    author TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id, contact_id, author)
) WITHOUT ROWID;

CREATE TABLE conversation_progress (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    indexed_count INTEGER NOT NULL,
    indexed_sequence INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id)
) WITHOUT ROWID;

-- `bucket` is one token for (tenant, agent, class); `place` one for each of conversation, contact and kind. FTS5
-- intersects them with the words, so that nothing of another bucket is ever read.
CREATE VIRTUAL TABLE keywords USING fts5 (bucket, place, terms, tokenize = 'unicode61');
