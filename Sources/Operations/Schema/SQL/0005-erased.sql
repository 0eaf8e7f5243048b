-- Recently erased persons, by the tag that events use for them. Requests that began before the erasure are no longer
-- stored. Kept for minutes.
CREATE TABLE letsswitch.erased (
    person text PRIMARY KEY,
    erased_at timestamptz NOT NULL
);
CREATE INDEX erased_past ON letsswitch.erased (erased_at);

-- The version of a question's last change that was more than votes.
ALTER TABLE letsswitch.question ADD COLUMN changed bigint NOT NULL DEFAULT 0;
