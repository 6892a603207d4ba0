CREATE TABLE api_keys (
    number INTEGER PRIMARY KEY,
    key_id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    display_name TEXT NOT NULL,
    role INTEGER NOT NULL,
    agents TEXT,
    digest BLOB NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER
);

CREATE INDEX api_keys_tenant ON api_keys (tenant, number);
