-- What messages have told already: an extraction that is repeated, late or of a range that is about to be covered
-- writes nothing again, also when the memory was replaced or forgotten since (J-8, J-9). Ids and digests only.
CREATE TABLE told (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    message_id TEXT COLLATE "C" NOT NULL,
    key_digest TEXT COLLATE "C" NOT NULL, -- of the memory's key
    PRIMARY KEY (tenant, agent_id, conversation_id, message_id, key_digest)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('told');
