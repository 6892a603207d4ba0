-- What the remote memory holds, or may hold: the row is there before the first request that sends a memory, and
-- until the answer that deleted it (S-15).
CREATE TABLE remote_copies (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    synced_revision INTEGER NOT NULL DEFAULT 0, -- acknowledged; 0 for none
    held_until INTEGER NOT NULL DEFAULT 0, -- somebody's request about it may be on its way until then
    PRIMARY KEY (tenant, agent_id, memory_id)
) WITHOUT ROWID;
