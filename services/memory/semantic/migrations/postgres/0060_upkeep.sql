-- Decay (S-14): on which day (since 1970, UTC) a memory last lost confidence, and what it had before.
ALTER TABLE memories ADD COLUMN decay_day BIGINT;
ALTER TABLE memories ADD COLUMN decay_from DOUBLE PRECISION;

-- What ends by itself: by a planned end, or by expiring (J-15).
CREATE INDEX memories_by_plan ON memories (valid_to, number) WHERE valid_to > ended;
CREATE INDEX memories_by_expiry ON memories (expires, number) WHERE expires IS NOT NULL;

-- Up to which moment ends were looked for; of the whole installation, under the tenant "system".
CREATE TABLE sweeps (
    tenant TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    upto BIGINT NOT NULL,
    PRIMARY KEY (tenant, name)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('sweeps');
