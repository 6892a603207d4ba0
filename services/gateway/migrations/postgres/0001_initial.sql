-- Every table is hash-partitioned by tenant and every unique key begins with it, so that a tenant's rows lie
-- together and the tables can be spread over machines by an engine that shards by hash. Keys sort as bytes.

CREATE FUNCTION palimpsest_partition(name TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s)', name || '_' || part, name, part
        );
    END LOOP;
END
$$;

CREATE SEQUENCE api_key_numbers;
CREATE TABLE api_keys (
    number BIGINT NOT NULL DEFAULT nextval('api_key_numbers'), -- grows in the order of making
    tenant TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    display_name TEXT NOT NULL,
    role SMALLINT NOT NULL,
    agents TEXT, -- JSON; null for every agent
    digest BYTEA NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT,
    revoked BIGINT,
    PRIMARY KEY (tenant, number),
    UNIQUE (tenant, key_id)
) PARTITION BY HASH (tenant);
-- A call names its key alone; ids are 64 bits of chance.
CREATE INDEX api_keys_by_id ON api_keys (key_id);
SELECT palimpsest_partition('api_keys');

-- What a tenant (agent '') and its agents chose; JSON, what is unset left out.
CREATE TABLE settings (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    content TEXT NOT NULL,
    updated BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('settings');

-- Who changed what and when: rows are added and never changed.
CREATE TABLE settings_changes (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    subject TEXT NOT NULL,
    time BIGINT NOT NULL,
    paths TEXT NOT NULL, -- JSON
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, revision)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('settings_changes');

-- Texts that were kept in: the total of each process that counts, by day and kind.
CREATE TABLE refusals (
    tenant TEXT COLLATE "C" NOT NULL,
    day TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    reporter_id TEXT COLLATE "C" NOT NULL,
    total BIGINT NOT NULL,
    PRIMARY KEY (tenant, day, kind, reporter_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('refusals');
