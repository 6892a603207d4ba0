-- What insights came from may change (J-17). `asked` is the end of the day that a row was first found in, NULL for
-- rows of an earlier version; `stale` counts the changes since it was last derived, 0 for none.
ALTER TABLE insights ADD COLUMN asked BIGINT;
ALTER TABLE insights ADD COLUMN stale BIGINT NOT NULL DEFAULT 0;
CREATE INDEX insights_stale ON insights (tenant, agent_id, day) WHERE stale > 0;
