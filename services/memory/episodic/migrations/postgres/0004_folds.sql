-- What overlays were folded into: one for each branch on which that was done (E-7).
CREATE TABLE folds (
    tenant TEXT COLLATE "C" NOT NULL,
    conversation BIGINT NOT NULL,
    overlay TEXT COLLATE "C" NOT NULL,
    folded_into TEXT COLLATE "C" NOT NULL,
    to_sequence BIGINT NOT NULL, -- of the last message of folded_into; where that lies on a path, overlay is hidden
    revision BIGINT NOT NULL, -- the conversation's, when it was folded
    PRIMARY KEY (tenant, conversation, overlay, folded_into)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('folds');
INSERT INTO folds
    SELECT o.tenant, o.conversation, o.id, f.id, f.to_sequence, o.revision
    FROM overlays o JOIN overlays f
    ON f.tenant = o.tenant AND f.conversation = o.conversation AND f.id = o.superseded_by;
CREATE INDEX folds_by_end ON folds (tenant, conversation, to_sequence);

-- Whether folds names an overlay, so that those it doesn't name are one read of an index.
ALTER TABLE overlays ADD COLUMN folded BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE overlays SET folded = TRUE WHERE superseded_by <> '';
DROP INDEX overlays_by_range;
ALTER TABLE overlays DROP COLUMN superseded_by;
CREATE INDEX overlays_by_range ON overlays (tenant, conversation, folded, to_sequence);
