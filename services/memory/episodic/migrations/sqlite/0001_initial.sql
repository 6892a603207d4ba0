-- Random secrets of this installation; the keys of message ids are derived from one (E-2).
CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE agents (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    display_name TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    create_time INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE contacts (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    id TEXT NOT NULL,
    display_name TEXT NOT NULL,
    create_time INTEGER NOT NULL,
    merged_into TEXT,
    PRIMARY KEY (tenant, agent_id, id),
    FOREIGN KEY (tenant, agent_id) REFERENCES agents (tenant, id)
) WITHOUT ROWID;
CREATE INDEX contacts_by_merged_into ON contacts (tenant, agent_id, merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE identities (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- orders a contact's identities by when they were linked
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    contact_id TEXT NOT NULL,
    UNIQUE (tenant, agent_id, identity),
    FOREIGN KEY (tenant, agent_id, contact_id) REFERENCES contacts (tenant, agent_id, id)
);
CREATE INDEX identities_by_contact ON identities (tenant, agent_id, contact_id);

CREATE TABLE conversations (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- stands for (tenant, agent_id, id) in the tables below
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    id TEXT NOT NULL,
    contact_id TEXT NOT NULL, -- '' for nobody
    title TEXT NOT NULL,
    create_time INTEGER NOT NULL,
    update_time INTEGER NOT NULL,
    stored_count INTEGER NOT NULL DEFAULT 0,
    leaf_id TEXT NOT NULL DEFAULT '',
    authors TEXT NOT NULL DEFAULT '[]', -- JSON, in order of first appearance
    UNIQUE (tenant, agent_id, id),
    FOREIGN KEY (tenant, agent_id) REFERENCES agents (tenant, id)
);
CREATE INDEX conversations_by_creation ON conversations (tenant, agent_id, number);
CREATE INDEX conversations_by_contact ON conversations (tenant, agent_id, contact_id, number) WHERE contact_id <> '';

-- `place` = conversation number << 32 | sequence: one index fewer on the append path, a conversation's messages
-- lie together, and a sequence number is unique in its conversation.
CREATE TABLE messages (
    place INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    id TEXT NOT NULL,
    parent_id TEXT NOT NULL, -- '' for the root
    role INTEGER NOT NULL,
    author TEXT NOT NULL,
    session TEXT NOT NULL,
    time INTEGER NOT NULL,
    create_time INTEGER NOT NULL,
    token_count INTEGER NOT NULL,
    content TEXT NOT NULL, -- canonical JSON of the parts
    UNIQUE (conversation, id)
);

CREATE TABLE append_requests (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- the oldest is pruned first
    conversation INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    runs TEXT NOT NULL, -- JSON [[first sequence, count, created], …]
    create_time INTEGER NOT NULL,
    UNIQUE (conversation, request_id)
);

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
