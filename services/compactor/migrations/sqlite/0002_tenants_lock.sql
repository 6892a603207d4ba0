-- The ledger as scripts: each tenant counts its own changes, and knows when its next job is due.

ALTER TABLE tenants ADD COLUMN revision INTEGER NOT NULL DEFAULT 0; -- counts the steps that changed its jobs
ALTER TABLE tenants ADD COLUMN next_due INTEGER; -- of its groups; NULL: nothing is left to be done
UPDATE tenants SET
    revision = (SELECT revision FROM clock),
    next_due = (SELECT MIN(next_due) FROM groups WHERE groups.tenant = tenants.tenant);
DROP TABLE clock;
CREATE INDEX tenants_due ON tenants (served, tenant, next_due) WHERE next_due IS NOT NULL;
CREATE INDEX groups_due ON groups (tenant, next_due) WHERE next_due IS NOT NULL;

-- `claim`: the revision of the step that claimed the job; jobs of one claim share it.
-- `sequence`: the message that the job derives something up to, `blocks`: the first that stays underived while
-- the job is neither succeeded nor cancelled; both of `conversation_id`, NULL where the payload names none.
ALTER TABLE jobs ADD COLUMN claim INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN conversation_id TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN sequence INTEGER;
ALTER TABLE jobs ADD COLUMN first_sequence INTEGER;
ALTER TABLE jobs ADD COLUMN blocks INTEGER;
DROP INDEX jobs_due;
CREATE INDEX jobs_due ON jobs (tenant, group_id, due) WHERE due IS NOT NULL;
CREATE INDEX jobs_running ON jobs (tenant, claim, due) WHERE state = 'running';
CREATE INDEX jobs_blocking ON jobs (tenant, group_id, conversation_id, blocks) WHERE blocks IS NOT NULL;

-- Up to which message something was ever derived, by kind of work.
CREATE TABLE progress (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    upto INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id, kind)
) WITHOUT ROWID;

-- What operators made of the schedules; `cron` is '' while the built-in one holds.
CREATE TABLE schedules (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    cron TEXT NOT NULL DEFAULT '',
    enabled INTEGER NOT NULL DEFAULT 1,
    last_tick INTEGER NOT NULL, -- the newest moment that needs no run any more
    last_run INTEGER, -- when a job was last asked for
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;

-- Who leads, until when.
CREATE TABLE leases (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    owner TEXT NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    type TEXT NOT NULL,
    subject TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    claimed_until REAL NOT NULL DEFAULT 0
);
