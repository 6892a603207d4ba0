-- Working memory (W-1 to W-6). `conversation` is conversations.number; 0 stands for "of the agent".

CREATE TABLE notes (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    text TEXT NOT NULL,
    token_count BIGINT NOT NULL,
    version BIGINT NOT NULL,
    update_time BIGINT NOT NULL,
    PRIMARY KEY (tenant, conversation)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('notes');

CREATE TABLE tasks (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    text TEXT NOT NULL,
    token_count BIGINT NOT NULL,
    update_time BIGINT NOT NULL,
    PRIMARY KEY (tenant, conversation)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('tasks');

CREATE TABLE checkpoints (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    turn_id TEXT COLLATE "C" NOT NULL,
    round BIGINT NOT NULL, -- the newest one
    handles TEXT NOT NULL, -- JSON [[name, handle], …]
    create_time BIGINT NOT NULL,
    update_time BIGINT NOT NULL,
    PRIMARY KEY (tenant, conversation)
) PARTITION BY HASH (tenant);
CREATE INDEX checkpoints_by_update ON checkpoints (update_time);
SELECT palimpsest_partition('checkpoints');

CREATE TABLE checkpoint_calls (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    call_id TEXT COLLATE "C" NOT NULL,
    round BIGINT NOT NULL,
    place BIGINT NOT NULL, -- in the request that saved it first
    name TEXT NOT NULL,
    arguments TEXT NOT NULL, -- canonical JSON
    complete BOOLEAN NOT NULL,
    is_error BOOLEAN NOT NULL,
    cut BOOLEAN NOT NULL,
    content TEXT NOT NULL, -- a preview of the result
    PRIMARY KEY (tenant, conversation, call_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('checkpoint_calls');

CREATE SEQUENCE context_block_numbers;
CREATE TABLE context_blocks (
    number BIGINT NOT NULL DEFAULT nextval('context_block_numbers'), -- stands for the block in the tables below
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    label TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    kind SMALLINT NOT NULL,
    max_tokens BIGINT NOT NULL,
    content TEXT NOT NULL,
    token_count BIGINT NOT NULL,
    written_by SMALLINT NOT NULL,
    entry_count BIGINT NOT NULL DEFAULT 0,
    term_count BIGINT NOT NULL DEFAULT 0, -- of all entries together
    create_time BIGINT NOT NULL,
    update_time BIGINT NOT NULL,
    PRIMARY KEY (tenant, number),
    UNIQUE (tenant, agent_id, conversation, label)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('context_blocks');

CREATE SEQUENCE context_entry_numbers;
CREATE TABLE context_entries (
    number BIGINT NOT NULL DEFAULT nextval('context_entry_numbers'),
    tenant TEXT COLLATE "C" NOT NULL,
    block BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    token_count BIGINT NOT NULL,
    term_count BIGINT NOT NULL, -- 0 in a loadable block
    update_time BIGINT NOT NULL,
    PRIMARY KEY (tenant, number),
    UNIQUE (tenant, block, key)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('context_entries');

CREATE TABLE context_terms (
    tenant TEXT COLLATE "C" NOT NULL,
    block BIGINT NOT NULL,
    term TEXT COLLATE "C" NOT NULL,
    entry BIGINT NOT NULL, -- context_entries.number
    frequency BIGINT NOT NULL,
    length BIGINT NOT NULL, -- the entry's term_count
    PRIMARY KEY (tenant, block, term, entry)
) PARTITION BY HASH (tenant);
CREATE INDEX context_terms_by_entry ON context_terms (tenant, block, entry);
SELECT palimpsest_partition('context_terms');

CREATE TABLE loaded_entries (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    block BIGINT NOT NULL,
    entry BIGINT NOT NULL, -- context_entries.number
    load_time BIGINT NOT NULL,
    PRIMARY KEY (tenant, conversation, block, entry)
) PARTITION BY HASH (tenant);
CREATE INDEX loaded_entries_by_entry ON loaded_entries (tenant, block, entry);
SELECT palimpsest_partition('loaded_entries');

CREATE TABLE frozen_prompts (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    text TEXT NOT NULL,
    token_count BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    epoch BIGINT NOT NULL, -- the agent's, when it was rendered
    create_time BIGINT NOT NULL,
    PRIMARY KEY (tenant, conversation)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('frozen_prompts');

-- Counts the refreshes of all of an agent's prompts: one that was rendered in an earlier epoch is not used.
CREATE TABLE prompt_epochs (
    tenant TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    PRIMARY KEY (tenant, agent_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('prompt_epochs');
