-- Times are microseconds since 1970.

-- Whose turn it is (J-4): `served` is the revision of the tenant's last claim.
CREATE TABLE tenants (
    tenant TEXT PRIMARY KEY,
    served INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX tenants_turn ON tenants (served, tenant);

-- Jobs that one call may take together, with the number of them in each state.
-- `next_due` is when the next of them may be claimed, never before `paused_until`; NULL: none is left.
CREATE TABLE groups (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    type TEXT NOT NULL,
    next_due INTEGER,
    paused_until INTEGER NOT NULL DEFAULT 0,
    served INTEGER NOT NULL DEFAULT 0,
    queued INTEGER NOT NULL DEFAULT 0,
    running INTEGER NOT NULL DEFAULT 0,
    succeeded INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tenant, agent_id, type)
);
CREATE INDEX groups_turn ON groups (tenant, served, agent_id, type, next_due) WHERE next_due IS NOT NULL;

-- `due`: when a worker may take the job (its not-before time, or the end of its lease); NULL in a final state.
CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    group_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    state TEXT NOT NULL,
    revision INTEGER NOT NULL,
    due INTEGER,
    finished INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL,
    fence INTEGER NOT NULL DEFAULT 0,
    suspicion INTEGER NOT NULL DEFAULT 0,
    deferred INTEGER,
    progress REAL NOT NULL DEFAULT 0,
    owner TEXT NOT NULL DEFAULT '',
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    error TEXT NOT NULL DEFAULT '',
    result_ids TEXT NOT NULL DEFAULT '[]',
    subject TEXT NOT NULL,
    payload BLOB NOT NULL
);
CREATE UNIQUE INDEX jobs_id ON jobs (tenant, id);
CREATE UNIQUE INDEX jobs_key ON jobs (tenant, key);
CREATE INDEX jobs_due ON jobs (group_id, due) WHERE due IS NOT NULL;
CREATE INDEX jobs_changes ON jobs (tenant, revision);
CREATE INDEX jobs_ends ON jobs (state, finished) WHERE finished IS NOT NULL;
CREATE INDEX jobs_dead ON jobs (tenant, id) WHERE state = 'dead';

-- Counts the changes; all rows that one step changes share its revision.
CREATE TABLE clock (revision INTEGER NOT NULL);
INSERT INTO clock VALUES (0);
