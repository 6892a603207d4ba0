-- Working memory (W-1 to W-6). `conversation` is conversations.number; 0 stands for "of the agent".

CREATE TABLE notes (
    tenant TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    text TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    version INTEGER NOT NULL,
    update_time INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation)
);

CREATE TABLE tasks (
    tenant TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    text TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    update_time INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation)
);

CREATE TABLE checkpoints (
    tenant TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    round INTEGER NOT NULL, -- the newest one
    handles TEXT NOT NULL, -- JSON [[name, handle], …]
    create_time INTEGER NOT NULL,
    update_time INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation)
);
CREATE INDEX checkpoints_by_update ON checkpoints (update_time);

CREATE TABLE checkpoint_calls (
    tenant TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    round INTEGER NOT NULL,
    place INTEGER NOT NULL, -- in the request that saved it first
    name TEXT NOT NULL,
    arguments TEXT NOT NULL, -- canonical JSON
    complete INTEGER NOT NULL,
    is_error INTEGER NOT NULL,
    cut INTEGER NOT NULL,
    content TEXT NOT NULL, -- a preview of the result
    PRIMARY KEY (tenant, conversation, call_id)
);

CREATE TABLE context_blocks (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- stands for the block in the tables below
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    label TEXT NOT NULL,
    description TEXT NOT NULL,
    kind INTEGER NOT NULL,
    max_tokens INTEGER NOT NULL,
    content TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    written_by INTEGER NOT NULL,
    entry_count INTEGER NOT NULL DEFAULT 0,
    term_count INTEGER NOT NULL DEFAULT 0, -- of all entries together
    create_time INTEGER NOT NULL,
    update_time INTEGER NOT NULL,
    UNIQUE (tenant, agent_id, conversation, label)
);

CREATE TABLE context_entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    block INTEGER NOT NULL,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    term_count INTEGER NOT NULL, -- 0 in a loadable block
    update_time INTEGER NOT NULL,
    UNIQUE (tenant, block, key)
);

CREATE TABLE context_terms (
    tenant TEXT NOT NULL,
    block INTEGER NOT NULL,
    term TEXT NOT NULL,
    entry INTEGER NOT NULL, -- context_entries.number
    frequency INTEGER NOT NULL,
    length INTEGER NOT NULL, -- the entry's term_count
    PRIMARY KEY (tenant, block, term, entry)
) WITHOUT ROWID;
CREATE INDEX context_terms_by_entry ON context_terms (tenant, block, entry);

CREATE TABLE loaded_entries (
    tenant TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    block INTEGER NOT NULL,
    entry INTEGER NOT NULL, -- context_entries.number
    load_time INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation, block, entry)
) WITHOUT ROWID;
CREATE INDEX loaded_entries_by_entry ON loaded_entries (tenant, block, entry);

CREATE TABLE frozen_prompts (
    tenant TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    text TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    epoch INTEGER NOT NULL, -- the agent's, when it was rendered
    create_time INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation)
);

-- Counts the refreshes of all of an agent's prompts: one that was rendered in an earlier epoch is not used.
CREATE TABLE prompt_epochs (
    tenant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    PRIMARY KEY (tenant, agent_id)
) WITHOUT ROWID;
