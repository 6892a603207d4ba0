-- Who answers a conversation at the moment: one row while a turn runs, and until it ends or `until` (G-4).
CREATE TABLE turn_leases (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    holder TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id)
) WITHOUT ROWID;
