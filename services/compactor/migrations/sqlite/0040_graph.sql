-- The graph of themes (J-13). Everything that changes an agent's graph takes this row first.
CREATE TABLE graph_agents (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id)
) WITHOUT ROWID;

-- A branch that was merged points at the one it was merged into, and has the last of that chain as its root.
CREATE TABLE graph_branches (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    merged_into TEXT NOT NULL, -- '' for a root
    root_id TEXT NOT NULL, -- its own id for a root
    by_hand BOOLEAN NOT NULL, -- whether somebody gave it a name
    conversations INTEGER NOT NULL, -- of a root: those of all that lead to it
    last_link INTEGER, -- likewise; NULL for none
    model TEXT NOT NULL, -- revision of the model of the vector; '' for none
    vector BLOB NOT NULL, -- of the name
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, branch_id)
) WITHOUT ROWID;
CREATE INDEX graph_branches_by_root ON graph_branches (tenant, agent_id, root_id);

-- Every name that a branch ever had: none is another's.
CREATE TABLE graph_slugs (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    slug TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    PRIMARY KEY (tenant, agent_id, slug)
) WITHOUT ROWID;
CREATE INDEX graph_slugs_by_branch ON graph_slugs (tenant, agent_id, branch_id);

-- Conversations are linked to the branch whose name they came under, merged or not.
CREATE TABLE graph_links (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    relevance REAL NOT NULL,
    by_hand BOOLEAN NOT NULL,
    linked INTEGER NOT NULL,
    moved_to TEXT NOT NULL, -- the branch that a split took it to; '' for a link
    PRIMARY KEY (tenant, agent_id, branch_id, conversation_id)
) WITHOUT ROWID;
CREATE INDEX graph_links_by_conversation ON graph_links (tenant, agent_id, conversation_id);

-- The version of a conversation's summary that its links came from.
CREATE TABLE graph_conversations (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id)
) WITHOUT ROWID;

CREATE TABLE graph_events (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    other_id TEXT NOT NULL,
    automatic BOOLEAN NOT NULL,
    slug TEXT NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id, event_id)
) WITHOUT ROWID;
CREATE INDEX graph_events_by_branch ON graph_events (tenant, agent_id, branch_id);

-- Pairs that may be the same, the lesser id first; one row a pair.
CREATE TABLE graph_proposals (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    proposal_id TEXT NOT NULL,
    lesser_id TEXT NOT NULL,
    greater_id TEXT NOT NULL,
    branch_id TEXT NOT NULL, -- which of them would be merged
    score REAL NOT NULL,
    evidence TEXT NOT NULL, -- JSON
    state TEXT NOT NULL,
    created INTEGER NOT NULL,
    resolved INTEGER,
    PRIMARY KEY (tenant, agent_id, proposal_id),
    UNIQUE (tenant, agent_id, lesser_id, greater_id)
) WITHOUT ROWID;
