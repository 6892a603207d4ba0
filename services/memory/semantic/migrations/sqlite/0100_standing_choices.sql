-- The memories that prompts show at any rate, as they were chosen when memories changed last (G-1, S-10).
-- `scope` is a digest of the contacts and of how many are wanted. The row without one only counts, in `revision`,
-- what was changed by hand.
CREATE TABLE standing_choices (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    revision INTEGER NOT NULL, -- counts the choices
    mark TEXT NOT NULL, -- a digest of what it was made of: the newest memories, and the changes by hand
    until INTEGER NOT NULL, -- the next moment at which a memory begins or ends to hold by itself
    ids TEXT NOT NULL, -- JSON, in order
    PRIMARY KEY (tenant, agent_id, scope)
) WITHOUT ROWID;

-- A bucket's memories that were written for later.
CREATE INDEX memories_beginning ON memories (tenant, agent_id, contact_id, valid_from) WHERE valid_from > created;
