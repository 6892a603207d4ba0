-- What the remote memory holds, or may hold: the row is there before the first request that sends a memory, and
-- until the answer that deleted it (S-15).
CREATE TABLE remote_copies (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    synced_revision BIGINT NOT NULL DEFAULT 0, -- acknowledged; 0 for none
    held_until BIGINT NOT NULL DEFAULT 0, -- somebody's request about it may be on its way until then
    PRIMARY KEY (tenant, agent_id, memory_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('remote_copies');
