-- Which model's vectors answer queries, and who fills those of the next one (S-17). Of the whole installation,
-- not of a tenant.

CREATE TABLE vector_models (
    name TEXT PRIMARY KEY, -- 'active'; 'filling' while the vectors of a next model miss no write
    revision TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    since INTEGER NOT NULL,
    position TEXT NOT NULL DEFAULT '' -- of the filling: what was filled last; 'swept' when all was
) WITHOUT ROWID;

CREATE TABLE vector_writers (
    replica TEXT PRIMARY KEY,
    revisions TEXT NOT NULL, -- JSON: the models whose vectors it writes
    expires INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE work_leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires INTEGER NOT NULL
) WITHOUT ROWID;

-- Indexes being built again at somebody's wish (SV-2).
CREATE TABLE reindexes (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL, -- '' for every agent
    state INTEGER NOT NULL,
    done INTEGER NOT NULL,
    total INTEGER NOT NULL,
    position TEXT NOT NULL, -- JSON: what was done last
    created INTEGER NOT NULL,
    finished INTEGER,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX reindexes_running ON reindexes (tenant) WHERE state = 1;
