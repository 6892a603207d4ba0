-- State documents (W-7). `conversation` is 0 for a document of the agent. The row stays after a deletion, so
-- that versions go on.
CREATE TABLE states (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL, -- the newest
    present BOOLEAN NOT NULL, -- whether the newest is a document, not a deletion
    PRIMARY KEY (tenant, agent_id, conversation, name)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('states');

-- The newest versions of each, the current one among them.
CREATE TABLE state_versions (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    time BIGINT NOT NULL,
    json TEXT, -- NULL for a deletion
    PRIMARY KEY (tenant, agent_id, conversation, name, version)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('state_versions');

-- Collections and their records (W-8).
CREATE TABLE record_collections (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    fields TEXT NOT NULL, -- JSON [[path, type], …] by path
    create_time BIGINT NOT NULL,
    update_time BIGINT NOT NULL,
    deleted_version BIGINT NOT NULL DEFAULT 0, -- the highest version of a deleted record; new ones begin above it
    PRIMARY KEY (tenant, agent_id, name)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('record_collections');

CREATE TABLE records (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    create_time BIGINT NOT NULL,
    update_time BIGINT NOT NULL,
    size BIGINT NOT NULL, -- bytes of json
    json TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, collection, id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('records');

-- A row for each indexed field that a record has: numbers and truth values as a number, else as text.
CREATE TABLE record_fields (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    field TEXT COLLATE "C" NOT NULL,
    text_value TEXT COLLATE "C",
    number_value DOUBLE PRECISION,
    PRIMARY KEY (tenant, agent_id, collection, id, field)
) PARTITION BY HASH (tenant);
CREATE INDEX record_fields_by_text ON record_fields (tenant, agent_id, collection, field, text_value, id)
    WHERE text_value IS NOT NULL;
CREATE INDEX record_fields_by_number ON record_fields (tenant, agent_id, collection, field, number_value, id)
    WHERE number_value IS NOT NULL;
SELECT palimpsest_partition('record_fields');
