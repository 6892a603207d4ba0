-- Times are microseconds since 1970. Every table is hash-partitioned by tenant and every unique key begins with
-- it, so that a tenant's rows lie together and the tables can be spread over machines by an engine that shards
-- by hash. Keys sort as bytes.

CREATE FUNCTION palimpsest_partition(name TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s)', name || '_' || part, name, part
        );
    END LOOP;
END
$$;

-- Every step that changes a tenant's jobs holds the tenant's row until it is committed, and counts itself there:
-- so revisions are in the order of commits. `served`: its turn, that of the newest claim is the greatest (J-4).
-- `next_due`: that of its groups, or later while the tenant has all the claims it may have.
CREATE TABLE tenants (
    tenant TEXT COLLATE "C" NOT NULL,
    served BIGINT NOT NULL DEFAULT 0,
    revision BIGINT NOT NULL DEFAULT 0,
    next_due BIGINT,
    PRIMARY KEY (tenant)
) PARTITION BY HASH (tenant);
CREATE INDEX tenants_turn ON tenants (served, tenant);
CREATE INDEX tenants_due ON tenants (served, tenant, next_due) WHERE next_due IS NOT NULL;
SELECT palimpsest_partition('tenants');

-- Jobs that one call may take together, with the number of them in each state.
-- `next_due` is when the next of them may be claimed, never before `paused_until`; NULL: none is left.
CREATE SEQUENCE group_numbers;
CREATE TABLE groups (
    id BIGINT NOT NULL DEFAULT nextval('group_numbers'),
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    next_due BIGINT,
    paused_until BIGINT NOT NULL DEFAULT 0,
    served BIGINT NOT NULL DEFAULT 0,
    queued BIGINT NOT NULL DEFAULT 0,
    running BIGINT NOT NULL DEFAULT 0,
    succeeded BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0,
    dead BIGINT NOT NULL DEFAULT 0,
    cancelled BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, agent_id, type)
) PARTITION BY HASH (tenant);
CREATE INDEX groups_turn ON groups (tenant, served, agent_id, type, next_due) WHERE next_due IS NOT NULL;
CREATE INDEX groups_due ON groups (tenant, next_due) WHERE next_due IS NOT NULL;
SELECT palimpsest_partition('groups');

-- `due`: when a worker may take the job (its not-before time, or the end of its lease); NULL in a final state.
-- `claim`: the revision of the step that claimed the job; jobs of one claim share it.
-- `sequence`: the message that the job derives something up to, `blocks`: the first that stays underived while
-- the job is neither succeeded nor cancelled; both of `conversation_id`, NULL where the payload names none.
CREATE SEQUENCE job_numbers;
CREATE TABLE jobs (
    seq BIGINT NOT NULL DEFAULT nextval('job_numbers'),
    id TEXT COLLATE "C" NOT NULL,
    tenant TEXT COLLATE "C" NOT NULL,
    group_id BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    due BIGINT,
    finished BIGINT,
    attempt BIGINT NOT NULL DEFAULT 0,
    max_attempts BIGINT NOT NULL,
    fence BIGINT NOT NULL DEFAULT 0,
    claim BIGINT NOT NULL DEFAULT 0,
    suspicion BIGINT NOT NULL DEFAULT 0,
    deferred BIGINT,
    progress DOUBLE PRECISION NOT NULL DEFAULT 0,
    owner TEXT NOT NULL DEFAULT '',
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    error TEXT NOT NULL DEFAULT '',
    result_ids TEXT NOT NULL DEFAULT '[]',
    subject TEXT NOT NULL,
    payload BYTEA NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL DEFAULT '',
    sequence BIGINT,
    first_sequence BIGINT,
    blocks BIGINT,
    PRIMARY KEY (tenant, seq),
    UNIQUE (tenant, id),
    UNIQUE (tenant, key)
) PARTITION BY HASH (tenant);
CREATE INDEX jobs_due ON jobs (tenant, group_id, due) WHERE due IS NOT NULL;
CREATE INDEX jobs_changes ON jobs (tenant, revision, seq);
CREATE INDEX jobs_ends ON jobs (state, finished) WHERE finished IS NOT NULL;
CREATE INDEX jobs_dead ON jobs (tenant, id) WHERE state = 'dead';
CREATE INDEX jobs_running ON jobs (tenant, claim, due) WHERE state = 'running';
CREATE INDEX jobs_blocking ON jobs (tenant, group_id, conversation_id, blocks) WHERE blocks IS NOT NULL;
SELECT palimpsest_partition('jobs');

-- Up to which message something was ever derived, by kind of work.
CREATE TABLE progress (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    upto BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id, kind)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('progress');

-- What operators made of the schedules; `cron` is '' while the built-in one holds.
CREATE TABLE schedules (
    tenant TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    cron TEXT NOT NULL DEFAULT '',
    enabled BIGINT NOT NULL DEFAULT 1,
    last_tick BIGINT NOT NULL, -- the newest moment that needs no run any more
    last_run BIGINT, -- when a job was last asked for
    PRIMARY KEY (tenant, name)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('schedules');

-- Who leads, until when.
CREATE TABLE leases (
    tenant TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    owner TEXT NOT NULL,
    expires BIGINT NOT NULL,
    PRIMARY KEY (tenant, name)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('leases');

CREATE SEQUENCE outbox_numbers;
CREATE TABLE outbox (
    id BIGINT NOT NULL DEFAULT nextval('outbox_numbers'),
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT NOT NULL,
    type TEXT NOT NULL,
    subject TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    claimed_until DOUBLE PRECISION NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX outbox_by_id ON outbox (id);
SELECT palimpsest_partition('outbox');
