-- By which names a conversation came: a merged branch keeps names that nobody is left for (J-13, S-13). They go with
-- the link, whoever deletes that.
CREATE TABLE graph_names (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    branch_id TEXT COLLATE "C" NOT NULL,
    slug TEXT COLLATE "C" NOT NULL,
    by_hand BOOLEAN NOT NULL, -- whether a caller linked it by this name: a newer summary takes the others away
    PRIMARY KEY (tenant, agent_id, conversation_id, branch_id, slug),
    FOREIGN KEY (tenant, agent_id, branch_id, conversation_id)
        REFERENCES graph_links (tenant, agent_id, branch_id, conversation_id) ON DELETE CASCADE
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('graph_names');
CREATE INDEX graph_names_by_slug ON graph_names (tenant, agent_id, slug);
INSERT INTO graph_names (tenant, agent_id, conversation_id, branch_id, slug, by_hand)
SELECT l.tenant, l.agent_id, l.conversation_id, l.branch_id, e.slug, l.by_hand
FROM graph_links l JOIN graph_events e ON e.tenant = l.tenant AND e.agent_id = l.agent_id
    AND e.branch_id = l.branch_id AND e.kind = 'created';
-- Names that were indexed are looked at again.
INSERT INTO outbox (tenant, agent_id, type, subject, key, payload)
SELECT tenant, agent_id, 'index_document', 'documents/' || type || '/' || branch_id,
    'index_document/' || agent_id || '/' || type || '/' || branch_id || '/names',
    json_build_object('type', type, 'subject', branch_id)::TEXT
FROM (
    SELECT DISTINCT b.tenant, b.agent_id, b.root_id AS branch_id, t.type
    FROM graph_branches b CROSS JOIN (SELECT 'branch' AS type UNION ALL SELECT 'page') AS t
    WHERE b.merged_into <> ''
) AS merged;
-- And pages of before, which hold all names of their branches, are written anew.
INSERT INTO outbox (tenant, agent_id, type, subject, key, payload)
SELECT tenant, agent_id, 'write_wiki', subject, 'write_wiki/' || agent_id || '/' || subject || '/names',
    json_build_object('branch_id', subject)::TEXT
FROM documents WHERE kind = 'wiki' AND present;
