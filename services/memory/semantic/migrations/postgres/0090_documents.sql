-- Derived documents as they are indexed (S-13): of each the newest version, and whose it is. `source_type` and
-- `subject` name what is written at once, in the Compactor. `contact_id` is '' for nobody's, '*' for one of several
-- people.
CREATE TABLE indexed_documents (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    document_key TEXT COLLATE "C" NOT NULL, -- its type and its id
    source_type SMALLINT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    document_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    digest TEXT NOT NULL, -- of all that is indexed of it
    settled BOOLEAN NOT NULL, -- whether every index has it
    title TEXT NOT NULL,
    contact_id TEXT COLLATE "C" NOT NULL,
    chunk_count BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, document_key)
) PARTITION BY HASH (tenant);
CREATE INDEX indexed_documents_source ON indexed_documents (tenant, agent_id, source_type, subject);
SELECT palimpsest_partition('indexed_documents');

-- Their parts: what an index finds is shown from here.
CREATE TABLE indexed_chunks (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    item_id TEXT COLLATE "C" NOT NULL,
    document_key TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    start BIGINT NOT NULL, -- in characters of the document's text
    text TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, item_id)
) PARTITION BY HASH (tenant);
CREATE INDEX indexed_chunks_document ON indexed_chunks (tenant, agent_id, document_key);
SELECT palimpsest_partition('indexed_chunks');
