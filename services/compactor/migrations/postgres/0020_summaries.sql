-- Up to which message (sequence) each conversation is summarised, and up to which one a summary was asked for
-- (J-5). `upto` is 0 before the first summary.
CREATE TABLE summarised (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    requested BIGINT NOT NULL,
    upto BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('summarised');

-- The concepts of each conversation's newest summary (J-7): how rare a concept is among an agent's summaries.
CREATE TABLE summary_concepts (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, agent_id, name, conversation_id)
) PARTITION BY HASH (tenant);
CREATE INDEX summary_concepts_of ON summary_concepts (tenant, agent_id, conversation_id);
SELECT palimpsest_partition('summary_concepts');
