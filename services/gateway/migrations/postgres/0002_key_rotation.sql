-- A key's present secret, and until when the one before it works too (G-9).
ALTER TABLE api_keys ADD COLUMN rotated BIGINT;
ALTER TABLE api_keys ADD COLUMN previous_digest BYTEA;
ALTER TABLE api_keys ADD COLUMN previous_expires BIGINT;

-- Who did what to which key, and when: rows are added and never changed.
CREATE SEQUENCE api_key_change_numbers;
CREATE TABLE api_key_changes (
    number BIGINT NOT NULL DEFAULT nextval('api_key_change_numbers'),
    tenant TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    kind SMALLINT NOT NULL,
    subject TEXT NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (tenant, number)
) PARTITION BY HASH (tenant);
CREATE INDEX api_key_changes_by_key ON api_key_changes (tenant, key_id, number);
SELECT palimpsest_partition('api_key_changes');
