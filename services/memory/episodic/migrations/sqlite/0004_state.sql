-- State documents (W-7). `conversation` is 0 for a document of the agent. The row stays after a deletion, so
-- that versions go on.
CREATE TABLE states (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL, -- the newest
    present BOOLEAN NOT NULL, -- whether the newest is a document, not a deletion
    PRIMARY KEY (tenant, agent_id, conversation, name)
) WITHOUT ROWID;

-- The newest versions of each, the current one among them.
CREATE TABLE state_versions (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    time INTEGER NOT NULL,
    json TEXT, -- NULL for a deletion
    PRIMARY KEY (tenant, agent_id, conversation, name, version)
);

-- Collections and their records (W-8).
CREATE TABLE record_collections (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    name TEXT NOT NULL,
    fields TEXT NOT NULL, -- JSON [[path, type], …] by path
    create_time INTEGER NOT NULL,
    update_time INTEGER NOT NULL,
    deleted_version INTEGER NOT NULL DEFAULT 0, -- the highest version of a deleted record; new ones begin above it
    PRIMARY KEY (tenant, agent_id, name)
) WITHOUT ROWID;

CREATE TABLE records (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    create_time INTEGER NOT NULL,
    update_time INTEGER NOT NULL,
    size INTEGER NOT NULL, -- bytes of json
    json TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, collection, id)
);

-- A row for each indexed field that a record has: numbers and truth values as a number, else as text.
CREATE TABLE record_fields (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    field TEXT NOT NULL,
    text_value TEXT,
    number_value REAL,
    PRIMARY KEY (tenant, agent_id, collection, id, field)
) WITHOUT ROWID;
CREATE INDEX record_fields_by_text ON record_fields (tenant, agent_id, collection, field, text_value, id)
    WHERE text_value IS NOT NULL;
CREATE INDEX record_fields_by_number ON record_fields (tenant, agent_id, collection, field, number_value, id)
    WHERE number_value IS NOT NULL;
