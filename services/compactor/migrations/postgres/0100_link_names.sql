-- By which name a conversation came: a merged branch keeps names that nobody is left for (J-13, S-13).
ALTER TABLE graph_links ADD COLUMN slug TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE graph_links SET slug = COALESCE((
    SELECT e.slug FROM graph_events e
    WHERE e.tenant = graph_links.tenant AND e.agent_id = graph_links.agent_id
        AND e.branch_id = graph_links.branch_id AND e.kind = 'created' LIMIT 1
), '') WHERE moved_to = '';
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
