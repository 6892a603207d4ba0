-- Supersession that can be undone, contradictions, verification (S-7, S-8). Tables name their tenant, as in
-- PostgreSQL, so that both run the same statements.

ALTER TABLE memories ADD COLUMN ended INTEGER; -- when valid_to was recorded
ALTER TABLE memories ADD COLUMN verification INTEGER NOT NULL DEFAULT 1; -- not needed
ALTER TABLE memories ADD COLUMN edits INTEGER NOT NULL DEFAULT 1; -- counts every change but accesses
ALTER TABLE memories ADD COLUMN contradicted INTEGER NOT NULL DEFAULT 0; -- whether it ever was

UPDATE memories SET ended = updated WHERE valid_to IS NOT NULL;

CREATE INDEX memories_by_bucket ON memories (tenant, agent_id, contact_id, number);
CREATE INDEX memories_by_successor ON memories (tenant, agent_id, superseded_by) WHERE superseded_by <> '';

-- Each time that a memory was replaced; of those that stand (undone is null), the newest is what holds.
CREATE TABLE supersessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    old_id TEXT NOT NULL,
    new_id TEXT NOT NULL,
    cause INTEGER NOT NULL,
    probability REAL NOT NULL,
    judge TEXT NOT NULL,
    created INTEGER NOT NULL,
    valid_to_before INTEGER,
    ended_before INTEGER,
    undone INTEGER
);
CREATE INDEX supersessions_of_old ON supersessions (tenant, agent_id, old_id, number);

INSERT INTO supersessions (tenant, agent_id, old_id, new_id, cause, probability, judge, created)
SELECT tenant, agent_id, memory_id, superseded_by, 1, 1, '', coalesce(ended, updated)
FROM memories WHERE superseded_by <> '' ORDER BY number;

-- Two memories that cannot both hold; memory_id < other_id.
CREATE TABLE contradictions (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    other_id TEXT NOT NULL,
    probability REAL NOT NULL,
    judge TEXT NOT NULL,
    created INTEGER NOT NULL,
    resolved INTEGER,
    kept_id TEXT NOT NULL DEFAULT '', -- the one that was chosen; '' for both
    PRIMARY KEY (tenant, agent_id, id),
    UNIQUE (tenant, agent_id, memory_id, other_id)
) WITHOUT ROWID;
CREATE INDEX contradictions_of_other ON contradictions (tenant, agent_id, other_id);

-- Writers of a key go one after the other: each locks the row of the key's stripe.
CREATE TABLE memory_locks (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    stripe INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, stripe)
) WITHOUT ROWID;

DROP INDEX remember_requests_created;
CREATE INDEX remember_requests_created ON remember_requests (tenant, created);

CREATE INDEX memory_sources_of_memory ON memory_sources (tenant, agent_id, memory_id);
