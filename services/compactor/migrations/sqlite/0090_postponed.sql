-- Up to which message conversations are derived once an update that was put off is done; see GetDerivedProgress.
CREATE TABLE postponed (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    upto INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, kind, conversation_id)
) WITHOUT ROWID;
