-- Derived documents (K-2): what is known of each, one row a document. The row stays after an erasure, so that
-- versions and revisions go on. `subject` is the conversation of a summary, '' for an attractor.
CREATE TABLE documents (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    version INTEGER NOT NULL, -- the newest
    revision INTEGER NOT NULL, -- counts every change of this row
    stale_revision INTEGER NOT NULL, -- the revision at which the newest was marked stale; 0: it is not (J-17)
    pinned INTEGER NOT NULL, -- the version read unless another is named; 0: the newest
    frozen TEXT NOT NULL, -- JSON [version, …]
    present BOOLEAN NOT NULL, -- whether there is a version
    created INTEGER NOT NULL, -- when the newest was written
    PRIMARY KEY (tenant, agent_id, kind, subject)
) WITHOUT ROWID;

-- Every version, the current one among them, kept for good (K-3).
CREATE TABLE document_versions (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    version INTEGER NOT NULL,
    created INTEGER NOT NULL,
    schema_name TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    engine TEXT NOT NULL,
    sources TEXT NOT NULL, -- JSON [id, …]
    size INTEGER NOT NULL, -- bytes of body
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, kind, subject, version),
    UNIQUE (tenant, agent_id, kind, subject, created)
);

-- Which documents any of whose versions came from a source (SV-7).
CREATE TABLE document_sources (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    source_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, source_id, kind, subject)
) WITHOUT ROWID;
CREATE INDEX document_sources_by_document ON document_sources (tenant, agent_id, kind, subject);
