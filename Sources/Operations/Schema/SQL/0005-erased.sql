-- Who was erased lately, by the tag by which events name people: what somebody wanted stored who came before that isn't stored any more.
-- Kept for minutes.
CREATE TABLE letsswitch.erased (
    person text PRIMARY KEY,
    erased_at timestamptz NOT NULL
);
CREATE INDEX erased_past ON letsswitch.erased (erased_at);

-- The version of a question's last change that was more than votes.
ALTER TABLE letsswitch.question ADD COLUMN changed bigint NOT NULL DEFAULT 0;
