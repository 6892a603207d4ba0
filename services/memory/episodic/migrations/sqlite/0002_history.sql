-- Trees, overlays, usage. Tables name their tenant, as in PostgreSQL, so that both run the same statements.

ALTER TABLE conversations ADD COLUMN leaf_sequence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN leaf_depth INTEGER NOT NULL DEFAULT 0; -- messages of the active path
ALTER TABLE conversations ADD COLUMN leaf_tokens INTEGER NOT NULL DEFAULT 0; -- their tokens
ALTER TABLE conversations ADD COLUMN covered_count INTEGER NOT NULL DEFAULT 0; -- those under live overlays
ALTER TABLE conversations ADD COLUMN covered_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN cover_requested INTEGER NOT NULL DEFAULT 0; -- leaf_depth when a job was asked for
ALTER TABLE conversations ADD COLUMN revision INTEGER NOT NULL DEFAULT 0; -- counts changes of overlays and of the leaf
ALTER TABLE conversations ADD COLUMN has_checkpoint INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN forked_from_conversation TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN forked_from_message TEXT NOT NULL DEFAULT '';

CREATE TABLE messages_with_tenant (
    place INTEGER PRIMARY KEY, -- conversation << 32 | sequence
    tenant TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    id TEXT NOT NULL,
    parent_id TEXT NOT NULL, -- '' for a first one
    role INTEGER NOT NULL,
    author TEXT NOT NULL,
    session TEXT NOT NULL,
    time INTEGER NOT NULL,
    create_time INTEGER NOT NULL,
    token_count INTEGER NOT NULL,
    content TEXT NOT NULL, -- canonical JSON of the parts
    UNIQUE (conversation, id)
);
INSERT INTO messages_with_tenant
    SELECT m.place, c.tenant, m.conversation, m.id, m.parent_id, m.role, m.author, m.session, m.time, m.create_time,
           m.token_count, m.content
    FROM messages m JOIN conversations c ON c.number = m.conversation ORDER BY m.place;
DROP TABLE messages;
ALTER TABLE messages_with_tenant RENAME TO messages;

UPDATE conversations SET
    leaf_sequence = stored_count,
    leaf_depth = stored_count,
    leaf_tokens = coalesce((SELECT sum(token_count) FROM messages WHERE conversation = conversations.number), 0);

-- The runs of a conversation's tree after its first one (domain/tree.py).
CREATE TABLE runs (
    tenant TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    first INTEGER NOT NULL, -- sequence number of its first message
    base INTEGER NOT NULL, -- that of the message it follows; 0 for none
    depth INTEGER NOT NULL, -- of that message
    PRIMARY KEY (tenant, conversation, first)
) WITHOUT ROWID;

CREATE TABLE overlays (
    tenant TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    id TEXT NOT NULL,
    from_id TEXT NOT NULL,
    to_id TEXT NOT NULL,
    from_sequence INTEGER NOT NULL,
    to_sequence INTEGER NOT NULL,
    from_depth INTEGER NOT NULL,
    to_depth INTEGER NOT NULL,
    message_tokens INTEGER NOT NULL,
    summary TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    source_ids TEXT NOT NULL, -- JSON
    model TEXT NOT NULL,
    create_time INTEGER NOT NULL,
    superseded_by TEXT NOT NULL, -- '' while it is live
    revision INTEGER NOT NULL, -- the conversation's, when the overlay last changed
    PRIMARY KEY (tenant, conversation, id)
);
CREATE INDEX overlays_by_range ON overlays (tenant, conversation, superseded_by, to_sequence);
CREATE INDEX overlays_by_revision ON overlays (tenant, conversation, revision);

CREATE TABLE append_requests_with_tenant (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- the oldest is pruned first
    tenant TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    runs TEXT NOT NULL, -- JSON [[first sequence, count, created], …]
    create_time INTEGER NOT NULL,
    UNIQUE (tenant, conversation, request_id)
);
INSERT INTO append_requests_with_tenant
    SELECT r.number, c.tenant, r.conversation, r.request_id, r.digest, r.runs, r.create_time
    FROM append_requests r JOIN conversations c ON c.number = r.conversation;
DROP TABLE append_requests;
ALTER TABLE append_requests_with_tenant RENAME TO append_requests;

-- Model calls and tokens (E-11), a row for each day.
CREATE TABLE usage (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL, -- '' outside of one
    day INTEGER NOT NULL, -- days since 1970, UTC
    tier TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    estimated_calls INTEGER NOT NULL, -- those whose tokens are estimates
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id, day, tier, model)
) WITHOUT ROWID;
