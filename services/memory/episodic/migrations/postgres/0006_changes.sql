-- Listing what changed since a moment reads what changed in that hour and since, not all that there is (E-13). By the
-- hour, which an append mostly leaves as it is: with the time itself in an index, each append would be an entry more
-- in every index of the table.
ALTER TABLE conversations
    ADD COLUMN update_hour BIGINT NOT NULL GENERATED ALWAYS AS (update_time / 3600000000) STORED;
CREATE INDEX conversations_by_change ON conversations (tenant, agent_id, update_hour);
