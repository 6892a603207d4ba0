-- What a tenant (agent '') and its agents chose; JSON, what is unset left out (G-12).
CREATE TABLE settings (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    content TEXT NOT NULL,
    updated INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id)
) WITHOUT ROWID;

-- Who changed what and when: rows are added and never changed.
CREATE TABLE settings_changes (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    subject TEXT NOT NULL,
    time INTEGER NOT NULL,
    paths TEXT NOT NULL, -- JSON
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, revision)
) WITHOUT ROWID;

-- Texts that were kept in: the total of each process that counts, by day and kind (S-15).
CREATE TABLE refusals (
    tenant TEXT NOT NULL,
    day TEXT NOT NULL,
    kind TEXT NOT NULL,
    reporter_id TEXT NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (tenant, day, kind, reporter_id)
) WITHOUT ROWID;
