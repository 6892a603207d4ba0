-- Which day told the state of a goal (J-11): days may be reflected upon late, or again. '' where none is known.
ALTER TABLE insights ADD COLUMN state_day TEXT COLLATE "C" NOT NULL DEFAULT '';
-- It was told on the day of the last change, or before.
UPDATE insights SET state_day = to_char(to_timestamp(updated / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
WHERE kind = 'goal' AND state IN ('achieved', 'dropped');
