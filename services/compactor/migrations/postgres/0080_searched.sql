-- What was derived before it could be searched (S-13) is indexed as if it had just been written.
INSERT INTO outbox (tenant, agent_id, type, subject, key, payload)
SELECT tenant, agent_id, 'index_document', 'documents/' || type || '/' || subject,
    'index_document/' || agent_id || '/' || type || '/' || subject || '/first',
    json_build_object('type', type, 'subject', subject)::TEXT
FROM (
    SELECT tenant, agent_id, subject,
        CASE kind WHEN 'summary' THEN 'summary' WHEN 'wiki' THEN 'page' ELSE 'theme' END AS type
    FROM documents WHERE present
    UNION ALL
    SELECT tenant, agent_id, branch_id, 'branch' FROM graph_branches WHERE merged_into = '' AND conversations > 0
) AS derived;
