-- Up to which message (sequence) each conversation is summarised, and up to which one a summary was asked for
-- (J-5). `upto` is 0 before the first summary.
CREATE TABLE summarised (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    requested INTEGER NOT NULL,
    upto INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id)
) WITHOUT ROWID;

-- The concepts of each conversation's newest summary (J-7): how rare a concept is among an agent's summaries.
CREATE TABLE summary_concepts (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    name TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, name, conversation_id)
) WITHOUT ROWID;
CREATE INDEX summary_concepts_of ON summary_concepts (tenant, agent_id, conversation_id);
