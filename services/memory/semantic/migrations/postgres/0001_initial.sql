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

CREATE SEQUENCE memory_numbers;
CREATE TABLE memories (
    number BIGINT NOT NULL DEFAULT nextval('memory_numbers'), -- grows in the order of writing
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    contact_id TEXT COLLATE "C" NOT NULL, -- '' for agent-wide
    key TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    value TEXT NOT NULL,
    fact_type SMALLINT NOT NULL,
    kind SMALLINT NOT NULL,
    pinned BOOLEAN NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    source SMALLINT NOT NULL,
    provenance TEXT NOT NULL, -- JSON [[conversation id, message id], …]
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    accessed BIGINT,
    access_count BIGINT NOT NULL DEFAULT 0,
    valid_from BIGINT NOT NULL,
    valid_to BIGINT,
    ended BIGINT, -- when valid_to was recorded
    superseded_by TEXT COLLATE "C" NOT NULL DEFAULT '',
    supersedes TEXT COLLATE "C" NOT NULL DEFAULT '',
    expires BIGINT,
    revision BIGINT NOT NULL DEFAULT 1, -- counts what the indexes must learn of
    indexed_revision BIGINT NOT NULL DEFAULT 0,
    verification SMALLINT NOT NULL,
    edits BIGINT NOT NULL DEFAULT 1, -- counts every change but accesses
    contradicted BOOLEAN NOT NULL DEFAULT FALSE, -- whether it ever was
    PRIMARY KEY (tenant, number),
    UNIQUE (tenant, agent_id, memory_id),
    UNIQUE (tenant, agent_id, contact_id, key, version)
) PARTITION BY HASH (tenant);
-- Concurrent writers leave one chain: of a key and bucket, at most one version has no successor (S-6).
CREATE UNIQUE INDEX memories_live ON memories (tenant, agent_id, contact_id, key) WHERE superseded_by = '';
CREATE INDEX memories_by_number ON memories (number);
CREATE INDEX memories_by_bucket ON memories (tenant, agent_id, contact_id, number);
CREATE INDEX memories_by_successor ON memories (tenant, agent_id, superseded_by) WHERE superseded_by <> '';
SELECT palimpsest_partition('memories');

-- Which memories came from a message.
CREATE TABLE memory_sources (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    message_id TEXT COLLATE "C" NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id, message_id, memory_id)
) PARTITION BY HASH (tenant);
CREATE INDEX memory_sources_of_memory ON memory_sources (tenant, agent_id, memory_id);
SELECT palimpsest_partition('memory_sources');

-- The words that keys are made of.
CREATE TABLE key_segments (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    segment TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL, -- of the memory
    PRIMARY KEY (tenant, agent_id, segment, number)
) PARTITION BY HASH (tenant);
CREATE INDEX key_segments_of_memory ON key_segments (tenant, number);
SELECT palimpsest_partition('key_segments');

-- Each time that a memory was replaced; of those that stand (undone is null), the newest is what holds.
CREATE SEQUENCE supersession_numbers;
CREATE TABLE supersessions (
    number BIGINT NOT NULL DEFAULT nextval('supersession_numbers'),
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    old_id TEXT COLLATE "C" NOT NULL,
    new_id TEXT COLLATE "C" NOT NULL,
    cause SMALLINT NOT NULL,
    probability DOUBLE PRECISION NOT NULL,
    judge TEXT NOT NULL,
    created BIGINT NOT NULL,
    valid_to_before BIGINT,
    ended_before BIGINT,
    undone BIGINT,
    PRIMARY KEY (tenant, agent_id, old_id, number)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('supersessions');

-- Two memories that cannot both hold; memory_id < other_id.
CREATE TABLE contradictions (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    other_id TEXT COLLATE "C" NOT NULL,
    probability DOUBLE PRECISION NOT NULL,
    judge TEXT NOT NULL,
    created BIGINT NOT NULL,
    resolved BIGINT,
    kept_id TEXT COLLATE "C" NOT NULL DEFAULT '', -- the one that was chosen; '' for both
    PRIMARY KEY (tenant, agent_id, id),
    UNIQUE (tenant, agent_id, memory_id, other_id)
) PARTITION BY HASH (tenant);
CREATE INDEX contradictions_of_other ON contradictions (tenant, agent_id, other_id);
SELECT palimpsest_partition('contradictions');

-- Writers of a key go one after the other: each locks the row of the key's stripe.
CREATE TABLE memory_locks (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    stripe SMALLINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, stripe)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('memory_locks');

CREATE TABLE remember_requests (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    digest TEXT NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    created_memory BOOLEAN NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, request_id)
) PARTITION BY HASH (tenant);
CREATE INDEX remember_requests_created ON remember_requests (tenant, created);
SELECT palimpsest_partition('remember_requests');

-- Which conversations have been indexed, and how far: enough to build the index of messages again.
CREATE TABLE known_conversations (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    highest_sequence BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('known_conversations');

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
