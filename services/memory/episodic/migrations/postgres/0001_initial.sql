-- Every table is hash-partitioned by tenant and every unique key begins with it, so that a tenant's rows lie
-- together and the tables can be spread over machines by an engine that shards by hash. Keys sort as bytes.

CREATE FUNCTION palimpsest_partition(name TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s)', name || '_' || part, name, part
        );
    END LOOP;
END
$$;

-- Random secrets of this installation; the keys of message ids are derived from one (E-2).
CREATE TABLE secrets (
    name TEXT COLLATE "C" PRIMARY KEY,
    value BYTEA NOT NULL
);

CREATE TABLE agents (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    display_name TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    create_time BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('agents');

CREATE TABLE contacts (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    display_name TEXT NOT NULL,
    create_time BIGINT NOT NULL,
    merged_into TEXT COLLATE "C",
    PRIMARY KEY (tenant, agent_id, id)
) PARTITION BY HASH (tenant);
CREATE INDEX contacts_by_merged_into ON contacts (tenant, agent_id, merged_into) WHERE merged_into IS NOT NULL;
SELECT palimpsest_partition('contacts');

CREATE SEQUENCE identity_numbers;
CREATE TABLE identities (
    number BIGINT NOT NULL DEFAULT nextval('identity_numbers'), -- orders a contact's identities by when they were linked
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    identity TEXT COLLATE "C" NOT NULL,
    contact_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, agent_id, identity)
) PARTITION BY HASH (tenant);
CREATE INDEX identities_by_contact ON identities (tenant, agent_id, contact_id);
SELECT palimpsest_partition('identities');

CREATE SEQUENCE conversation_numbers MAXVALUE 2147483647; -- a message's place has 31 bits for it
CREATE TABLE conversations (
    number BIGINT NOT NULL DEFAULT nextval('conversation_numbers'), -- stands for (tenant, agent_id, id) in the tables below
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    contact_id TEXT COLLATE "C" NOT NULL, -- '' for nobody
    title TEXT NOT NULL,
    create_time BIGINT NOT NULL,
    update_time BIGINT NOT NULL,
    stored_count BIGINT NOT NULL DEFAULT 0,
    leaf_id TEXT COLLATE "C" NOT NULL DEFAULT '',
    leaf_sequence BIGINT NOT NULL DEFAULT 0,
    leaf_depth BIGINT NOT NULL DEFAULT 0, -- messages of the active path
    leaf_tokens BIGINT NOT NULL DEFAULT 0, -- their tokens
    covered_count BIGINT NOT NULL DEFAULT 0, -- those under live overlays
    covered_tokens BIGINT NOT NULL DEFAULT 0,
    cover_requested BIGINT NOT NULL DEFAULT 0, -- leaf_depth when a job was asked for
    revision BIGINT NOT NULL DEFAULT 0, -- counts changes of overlays and of the leaf
    has_checkpoint BOOLEAN NOT NULL DEFAULT FALSE,
    authors TEXT NOT NULL DEFAULT '[]', -- JSON, in order of first appearance
    forked_from_conversation TEXT NOT NULL DEFAULT '',
    forked_from_message TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, number),
    UNIQUE (tenant, agent_id, id)
) PARTITION BY HASH (tenant);
CREATE INDEX conversations_by_creation ON conversations (tenant, agent_id, number);
CREATE INDEX conversations_by_contact ON conversations (tenant, agent_id, contact_id, number) WHERE contact_id <> '';
SELECT palimpsest_partition('conversations');

CREATE TABLE messages (
    tenant TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL, -- conversation << 32 | sequence
    conversation BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    parent_id TEXT COLLATE "C" NOT NULL, -- '' for a first one
    role SMALLINT NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    session TEXT NOT NULL,
    time BIGINT NOT NULL,
    create_time BIGINT NOT NULL,
    token_count BIGINT NOT NULL,
    content TEXT NOT NULL, -- canonical JSON of the parts
    PRIMARY KEY (tenant, place),
    UNIQUE (tenant, conversation, id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('messages');

-- The runs of a conversation's tree after its first one (domain/tree.py).
CREATE TABLE runs (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    first BIGINT NOT NULL, -- sequence number of its first message
    base BIGINT NOT NULL, -- that of the message it follows; 0 for none
    depth BIGINT NOT NULL, -- of that message
    PRIMARY KEY (tenant, conversation, first)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('runs');

CREATE TABLE overlays (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    from_id TEXT COLLATE "C" NOT NULL,
    to_id TEXT COLLATE "C" NOT NULL,
    from_sequence BIGINT NOT NULL,
    to_sequence BIGINT NOT NULL,
    from_depth BIGINT NOT NULL,
    to_depth BIGINT NOT NULL,
    message_tokens BIGINT NOT NULL,
    summary TEXT NOT NULL,
    token_count BIGINT NOT NULL,
    source_ids TEXT NOT NULL, -- JSON
    model TEXT NOT NULL,
    create_time BIGINT NOT NULL,
    superseded_by TEXT COLLATE "C" NOT NULL, -- '' while it is live
    revision BIGINT NOT NULL, -- the conversation's, when the overlay last changed
    PRIMARY KEY (tenant, conversation, id)
) PARTITION BY HASH (tenant);
CREATE INDEX overlays_by_range ON overlays (tenant, conversation, superseded_by, to_sequence);
CREATE INDEX overlays_by_revision ON overlays (tenant, conversation, revision);
SELECT palimpsest_partition('overlays');

CREATE SEQUENCE append_request_numbers;
CREATE TABLE append_requests (
    number BIGINT NOT NULL DEFAULT nextval('append_request_numbers'), -- the oldest is pruned first
    tenant TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    digest TEXT NOT NULL,
    runs TEXT NOT NULL, -- JSON [[first sequence, count, created], …]
    create_time BIGINT NOT NULL,
    PRIMARY KEY (tenant, conversation, request_id)
) PARTITION BY HASH (tenant);
CREATE INDEX append_requests_by_number ON append_requests (number);
SELECT palimpsest_partition('append_requests');

-- Model calls and tokens (E-11), a row for each day.
CREATE TABLE usage (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL, -- '' outside of one
    day BIGINT NOT NULL, -- days since 1970, UTC
    tier TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    calls BIGINT NOT NULL,
    estimated_calls BIGINT NOT NULL, -- those whose tokens are estimates
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id, day, tier, model)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('usage');

CREATE SEQUENCE outbox_numbers;
CREATE TABLE outbox (
    id BIGINT NOT NULL DEFAULT nextval('outbox_numbers'),
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT NOT NULL,
    type TEXT NOT NULL,
    subject TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    claimed_until DOUBLE PRECISION NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX outbox_by_id ON outbox (id);
SELECT palimpsest_partition('outbox');
