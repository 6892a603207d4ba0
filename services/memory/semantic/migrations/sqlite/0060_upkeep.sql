-- Decay (S-14): on which day (since 1970, UTC) a memory last lost confidence, and what it had before.
ALTER TABLE memories ADD COLUMN decay_day INTEGER;
ALTER TABLE memories ADD COLUMN decay_from REAL;

-- What ends by itself: by a planned end, or by expiring (J-15).
CREATE INDEX memories_by_plan ON memories (valid_to, number) WHERE valid_to > ended;
CREATE INDEX memories_by_expiry ON memories (expires, number) WHERE expires IS NOT NULL;

-- Up to which moment ends were looked for; of the whole installation, under the tenant "system".
CREATE TABLE sweeps (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    upto INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
