-- A word of a query is looked up among the keys of one agent, however many agents use it too.
CREATE TABLE agent_key_segments (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    segment TEXT NOT NULL,
    number INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    PRIMARY KEY (tenant, agent_id, segment, number)
) WITHOUT ROWID;

INSERT INTO agent_key_segments
SELECT tenant, agent_id, segment, number FROM key_segments JOIN memories USING (number);

DROP TABLE key_segments;

ALTER TABLE agent_key_segments RENAME TO key_segments;

CREATE INDEX key_segments_number ON key_segments (number);
