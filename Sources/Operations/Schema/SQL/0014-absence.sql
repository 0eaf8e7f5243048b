-- Absent users, and their partners.
ALTER TABLE letsswitch.task
    -- The user wasn't in the room when the partner was matched again: nobody's partner until the user comes.
    ADD COLUMN is_absent boolean NOT NULL DEFAULT false,
    -- When the match was made, unless by registering in time. A user who was matched late gets the usual time to join.
    ADD COLUMN paired_at timestamptz;
-- `waits_until` of a task with a partner: the partner hasn't come, and somebody else may.
CREATE INDEX task_forsaken ON letsswitch.task (starts_at) WHERE waits_until IS NOT NULL AND partner_id IS NOT NULL;
