-- Dead jobs of a conversation that nothing made up for; see GetDerivedProgress. Few, so that it costs nothing.
CREATE INDEX jobs_dead_of ON jobs (tenant, group_id, conversation_id, id) WHERE state = 'dead' AND blocks IS NOT NULL;
