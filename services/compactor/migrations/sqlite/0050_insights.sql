-- Runs of consolidation (J-10): what they did to an agent's memories, by ids.
CREATE TABLE consolidation_runs (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    dry BOOLEAN NOT NULL,
    created INTEGER NOT NULL,
    finished INTEGER,
    undone INTEGER,
    planned BOOLEAN NOT NULL, -- whether `merges` is settled
    compared INTEGER NOT NULL,
    decayed INTEGER NOT NULL,
    restored INTEGER NOT NULL,
    merges TEXT NOT NULL, -- JSON
    PRIMARY KEY (tenant, agent_id, run_id)
) WITHOUT ROWID;

-- Reflections, goals and learnings (J-11). `slug` names what a row is about: one row of a kind, contact and slug,
-- or for each day of a reflection.
CREATE TABLE insights (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    insight_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    contact_id TEXT NOT NULL, -- '' for agent-wide
    slug TEXT NOT NULL,
    topic TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL, -- of a goal; '' otherwise
    day TEXT NOT NULL, -- of the reflection that wrote it first, ISO 8601
    provenance TEXT NOT NULL, -- JSON [[conversation id, message id], …]
    sources TEXT NOT NULL, -- JSON [id, …]
    memory_id TEXT NOT NULL, -- the memory that tells of it; '' for none
    kept BOOLEAN NOT NULL, -- whether somebody changed it
    revision INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, insight_id),
    UNIQUE (tenant, agent_id, kind, contact_id, slug)
) WITHOUT ROWID;
CREATE INDEX insights_by_kind ON insights (tenant, agent_id, kind, insight_id);

-- Which insights came from a source: a memory, a message as "conversation/message", or a summary.
CREATE TABLE insight_sources (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    source_id TEXT NOT NULL,
    insight_id TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, source_id, insight_id)
) WITHOUT ROWID;
