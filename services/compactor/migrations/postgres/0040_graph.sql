-- The graph of themes (J-13). Everything that changes an agent's graph takes this row first.
CREATE TABLE graph_agents (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('graph_agents');

-- A branch that was merged points at the one it was merged into, and has the last of that chain as its root.
CREATE TABLE graph_branches (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    branch_id TEXT COLLATE "C" NOT NULL,
    slug TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    merged_into TEXT COLLATE "C" NOT NULL, -- '' for a root
    root_id TEXT COLLATE "C" NOT NULL, -- its own id for a root
    by_hand BOOLEAN NOT NULL, -- whether somebody gave it a name
    conversations BIGINT NOT NULL, -- of a root: those of all that lead to it
    last_link BIGINT, -- likewise; NULL for none
    model TEXT NOT NULL, -- revision of the model of the vector; '' for none
    vector BYTEA NOT NULL, -- of the name
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, branch_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('graph_branches');
CREATE INDEX graph_branches_by_root ON graph_branches (tenant, agent_id, root_id);

-- Every name that a branch ever had: none is another's.
CREATE TABLE graph_slugs (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    slug TEXT COLLATE "C" NOT NULL,
    branch_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, agent_id, slug)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('graph_slugs');
CREATE INDEX graph_slugs_by_branch ON graph_slugs (tenant, agent_id, branch_id);

-- Conversations are linked to the branch whose name they came under, merged or not.
CREATE TABLE graph_links (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    branch_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    relevance DOUBLE PRECISION NOT NULL,
    by_hand BOOLEAN NOT NULL,
    linked BIGINT NOT NULL,
    moved_to TEXT COLLATE "C" NOT NULL, -- the branch that a split took it to; '' for a link
    PRIMARY KEY (tenant, agent_id, branch_id, conversation_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('graph_links');
CREATE INDEX graph_links_by_conversation ON graph_links (tenant, agent_id, conversation_id);

-- The version of a conversation's summary that its links came from.
CREATE TABLE graph_conversations (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, conversation_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('graph_conversations');

CREATE TABLE graph_events (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    branch_id TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    other_id TEXT COLLATE "C" NOT NULL,
    automatic BOOLEAN NOT NULL,
    slug TEXT COLLATE "C" NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id, event_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('graph_events');
CREATE INDEX graph_events_by_branch ON graph_events (tenant, agent_id, branch_id);

-- Pairs that may be the same, the lesser id first; one row a pair.
CREATE TABLE graph_proposals (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    proposal_id TEXT COLLATE "C" NOT NULL,
    lesser_id TEXT COLLATE "C" NOT NULL,
    greater_id TEXT COLLATE "C" NOT NULL,
    branch_id TEXT COLLATE "C" NOT NULL, -- which of them would be merged
    score DOUBLE PRECISION NOT NULL,
    evidence TEXT NOT NULL, -- JSON
    state TEXT NOT NULL,
    created BIGINT NOT NULL,
    resolved BIGINT,
    PRIMARY KEY (tenant, agent_id, proposal_id),
    UNIQUE (tenant, agent_id, lesser_id, greater_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('graph_proposals');
