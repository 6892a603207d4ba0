-- Up to which message conversations are derived once an update that was put off is done; see GetDerivedProgress.
CREATE TABLE postponed (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    upto BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, kind, conversation_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('postponed');
