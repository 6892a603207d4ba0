-- Who answers a conversation at the moment: one row while a turn runs, and until it ends or `until` (G-4).
CREATE TABLE turn_leases (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    holder TEXT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('turn_leases');
