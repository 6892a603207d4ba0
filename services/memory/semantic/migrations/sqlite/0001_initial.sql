CREATE TABLE memories (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    contact_id TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    fact_type INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    confidence REAL NOT NULL,
    source INTEGER NOT NULL,
    provenance TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    accessed INTEGER,
    access_count INTEGER NOT NULL DEFAULT 0,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    superseded_by TEXT NOT NULL DEFAULT '',
    supersedes TEXT NOT NULL DEFAULT '',
    expires INTEGER,
    revision INTEGER NOT NULL DEFAULT 1,
    indexed_revision INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tenant, agent_id, memory_id),
    UNIQUE (tenant, agent_id, contact_id, key, version)
);

-- Concurrent writers leave one chain: of a key and bucket, at most one version is live (S-6).
CREATE UNIQUE INDEX memories_live ON memories (tenant, agent_id, contact_id, key) WHERE superseded_by = '';

-- Which memories came from a message.
CREATE TABLE memory_sources (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id, message_id, memory_id)
) WITHOUT ROWID;

CREATE TABLE key_segments (
    segment TEXT NOT NULL,
    number INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    PRIMARY KEY (segment, number)
) WITHOUT ROWID;

CREATE INDEX key_segments_number ON key_segments (number);

CREATE TABLE remember_requests (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    created_memory INTEGER NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, request_id)
) WITHOUT ROWID;

CREATE INDEX remember_requests_created ON remember_requests (created);

-- Which conversations have been indexed, and how far: enough to build the index of messages again.
CREATE TABLE known_conversations (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    highest_sequence INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id)
) WITHOUT ROWID;

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    type TEXT NOT NULL,
    subject TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    claimed_until REAL NOT NULL DEFAULT 0
);
