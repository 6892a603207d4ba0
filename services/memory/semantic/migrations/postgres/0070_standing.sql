-- A bucket's memories in the order in which they are chosen without a query (S-10): it may have very many.
CREATE INDEX memories_standing ON memories
    (tenant, agent_id, contact_id, pinned DESC, (coalesce(accessed, created)) DESC);
