-- Until when a memory holds; its `time` is from when on. No end is known where this is null. `class` may be "past".
ALTER TABLE items ADD COLUMN ends INTEGER;
