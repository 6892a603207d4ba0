-- Runs of consolidation (J-10): what they did to an agent's memories, by ids.
CREATE TABLE consolidation_runs (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    dry BOOLEAN NOT NULL,
    created BIGINT NOT NULL,
    finished BIGINT,
    undone BIGINT,
    planned BOOLEAN NOT NULL, -- whether `merges` is settled
    compared BIGINT NOT NULL,
    decayed BIGINT NOT NULL,
    restored BIGINT NOT NULL,
    merges TEXT NOT NULL, -- JSON
    PRIMARY KEY (tenant, agent_id, run_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('consolidation_runs');

-- Reflections, goals and learnings (J-11). `slug` names what a row is about: one row of a kind, contact and slug,
-- or for each day of a reflection.
CREATE TABLE insights (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    insight_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    contact_id TEXT COLLATE "C" NOT NULL, -- '' for agent-wide
    slug TEXT COLLATE "C" NOT NULL,
    topic TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL, -- of a goal; '' otherwise
    day TEXT NOT NULL, -- of the reflection that wrote it first, ISO 8601
    provenance TEXT NOT NULL, -- JSON [[conversation id, message id], …]
    sources TEXT NOT NULL, -- JSON [id, …]
    memory_id TEXT NOT NULL, -- the memory that tells of it; '' for none
    kept BOOLEAN NOT NULL, -- whether somebody changed it
    revision BIGINT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, insight_id),
    UNIQUE (tenant, agent_id, kind, contact_id, slug)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('insights');
CREATE INDEX insights_by_kind ON insights (tenant, agent_id, kind, insight_id);

-- Which insights came from a source: a memory, a message as "conversation/message", or a summary.
CREATE TABLE insight_sources (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    source_id TEXT COLLATE "C" NOT NULL,
    insight_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, agent_id, source_id, insight_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('insight_sources');
