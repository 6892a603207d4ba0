-- Listing what changed since a moment reads what changed in that hour and since, not all that there is (E-13). By the
-- hour, which an append mostly leaves as it is.
ALTER TABLE conversations
    ADD COLUMN update_hour INTEGER NOT NULL GENERATED ALWAYS AS (update_time / 3600000000) VIRTUAL;
CREATE INDEX conversations_by_change ON conversations (tenant, agent_id, update_hour);
