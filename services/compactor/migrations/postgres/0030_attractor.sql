-- What an attractor takes from each summary (J-12): a copy, made again from the summary when it is lost.
CREATE TABLE attractor_points (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL, -- of the summary
    model TEXT NOT NULL, -- the revision of the model that made the vector
    time BIGINT NOT NULL, -- of the last message
    title TEXT NOT NULL,
    concepts TEXT NOT NULL, -- JSON [[name, relevance], …]
    vector BYTEA NOT NULL, -- float32, little endian, of length 1; empty: the summary says nothing
    PRIMARY KEY (tenant, agent_id, conversation_id)
) PARTITION BY HASH (tenant);
CREATE INDEX attractor_points_by_time ON attractor_points (tenant, agent_id, time, conversation_id);
SELECT palimpsest_partition('attractor_points');
