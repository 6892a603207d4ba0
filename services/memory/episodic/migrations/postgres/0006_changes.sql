-- Listing what changed since a moment reads what did, not all that there is (E-13).
CREATE INDEX conversations_by_change ON conversations (tenant, agent_id, update_time);
