-- Derived documents (K-2): what is known of each, one row a document. The row stays after an erasure, so that
-- versions and revisions go on. `subject` is the conversation of a summary, '' for an attractor.
CREATE TABLE documents (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL, -- the newest
    revision BIGINT NOT NULL, -- counts every change of this row
    stale_revision BIGINT NOT NULL, -- the revision at which the newest was marked stale; 0: it is not (J-17)
    pinned BIGINT NOT NULL, -- the version read unless another is named; 0: the newest
    frozen TEXT NOT NULL, -- JSON [version, …]
    present BOOLEAN NOT NULL, -- whether there is a version
    created BIGINT NOT NULL, -- when the newest was written
    PRIMARY KEY (tenant, agent_id, kind, subject)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('documents');

-- Every version, the current one among them, kept for good (K-3).
CREATE TABLE document_versions (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    created BIGINT NOT NULL,
    schema_name TEXT NOT NULL,
    schema_version BIGINT NOT NULL,
    engine TEXT NOT NULL,
    sources TEXT NOT NULL, -- JSON [id, …]
    size BIGINT NOT NULL, -- bytes of body
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, kind, subject, version),
    UNIQUE (tenant, agent_id, kind, subject, created)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('document_versions');

-- Which documents any of whose versions came from a source (SV-7).
CREATE TABLE document_sources (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    source_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, agent_id, source_id, kind, subject)
) PARTITION BY HASH (tenant);
CREATE INDEX document_sources_by_document ON document_sources (tenant, agent_id, kind, subject);
SELECT palimpsest_partition('document_sources');
