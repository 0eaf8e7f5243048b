-- Who doesn't come, and whose partner doesn't.
ALTER TABLE letsswitch.task
    -- Wasn't in the room when the partner was given another: nobody's partner until it comes.
    ADD COLUMN is_absent boolean NOT NULL DEFAULT false,
    -- When its pair was made, if that wasn't by registering in time: whoever was found late has as long as anybody to come.
    ADD COLUMN paired_at timestamptz;
-- `waits_until` of a task with a partner: the partner hasn't come, and somebody else may.
CREATE INDEX task_forsaken ON letsswitch.task (starts_at) WHERE waits_until IS NOT NULL AND partner_id IS NOT NULL;
