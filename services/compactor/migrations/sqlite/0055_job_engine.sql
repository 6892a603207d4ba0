-- What did a job that succeeded, where there is a choice between a model and a deterministic engine (J-16).

ALTER TABLE jobs ADD COLUMN engine TEXT NOT NULL DEFAULT '';
