-- A key's present secret, and until when the one before it works too (G-9).
ALTER TABLE api_keys ADD COLUMN rotated INTEGER;
ALTER TABLE api_keys ADD COLUMN previous_digest BLOB;
ALTER TABLE api_keys ADD COLUMN previous_expires INTEGER;

-- Who did what to which key, and when: rows are added and never changed.
CREATE TABLE api_key_changes (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    key_id TEXT NOT NULL,
    kind INTEGER NOT NULL,
    subject TEXT NOT NULL,
    time INTEGER NOT NULL
);
CREATE INDEX api_key_changes_tenant ON api_key_changes (tenant, number);
CREATE INDEX api_key_changes_key ON api_key_changes (tenant, key_id, number);
