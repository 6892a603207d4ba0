-- What the assistant said right before a tool call of an open turn (W-3, G-4).
ALTER TABLE checkpoint_calls ADD COLUMN said TEXT NOT NULL DEFAULT '';
