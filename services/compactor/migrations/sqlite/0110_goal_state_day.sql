-- Which day told the state of a goal (J-11): days may be reflected upon late, or again. '' where none is known.
ALTER TABLE insights ADD COLUMN state_day TEXT NOT NULL DEFAULT '';
-- It was told on the day of the last change, or before.
UPDATE insights SET state_day = strftime('%Y-%m-%d', updated / 1000000, 'unixepoch')
WHERE kind = 'goal' AND state IN ('achieved', 'dropped');
