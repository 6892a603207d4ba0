-- Which model's vectors answer queries, and who fills those of the next one (S-17). Of the whole installation,
-- not of a tenant.

CREATE TABLE vector_models (
    name TEXT COLLATE "C" PRIMARY KEY, -- 'active'; 'filling' while the vectors of a next model miss no write
    revision TEXT COLLATE "C" NOT NULL,
    dimension BIGINT NOT NULL,
    since BIGINT NOT NULL,
    position TEXT NOT NULL DEFAULT '' -- of the filling: what was filled last; 'swept' when all was
);

CREATE TABLE vector_writers (
    replica TEXT COLLATE "C" PRIMARY KEY,
    revisions TEXT NOT NULL, -- JSON: the models whose vectors it writes
    expires BIGINT NOT NULL
);

CREATE TABLE work_leases (
    name TEXT COLLATE "C" PRIMARY KEY,
    holder TEXT COLLATE "C" NOT NULL,
    expires BIGINT NOT NULL
);

-- Indexes being built again at somebody's wish (SV-2).
CREATE TABLE reindexes (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL, -- '' for every agent
    state SMALLINT NOT NULL,
    done BIGINT NOT NULL,
    total BIGINT NOT NULL,
    position TEXT NOT NULL, -- JSON: what was done last
    created BIGINT NOT NULL,
    finished BIGINT,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE UNIQUE INDEX reindexes_running ON reindexes (tenant) WHERE state = 1;
SELECT palimpsest_partition('reindexes');
