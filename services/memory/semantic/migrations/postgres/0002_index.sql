-- The registry of what is indexed. Everything here is derived: losing it loses nothing (SV-2).

CREATE TABLE index_facts (
    name TEXT COLLATE "C" PRIMARY KEY,
    value TEXT NOT NULL
);

-- What is indexed, and what recall knows of it. `class` is "message" or "memory".
CREATE TABLE items (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    class TEXT COLLATE "C" NOT NULL,
    item_id TEXT COLLATE "C" NOT NULL,
    contact_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    message_id TEXT COLLATE "C" NOT NULL,
    role BIGINT NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    session TEXT NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, class, item_id)
) PARTITION BY HASH (tenant);
CREATE INDEX items_place ON items (tenant, agent_id, conversation_id, sequence);
SELECT palimpsest_partition('items');

-- Who speaks in the indexed messages.
CREATE TABLE authors (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    contact_id TEXT COLLATE "C" NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id, contact_id, author)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('authors');

-- Indexers of a conversation lock its row, so that they count one after the other.
CREATE TABLE conversation_progress (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    indexed_count BIGINT NOT NULL,
    indexed_sequence BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('conversation_progress');
