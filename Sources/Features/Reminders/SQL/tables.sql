-- The tables of reminders and claims. They are part of the first migration.

-- The outbox of reminders: one row per claimed task, written in the transaction that opens the room. The text is read
-- from the task when the reminder is sent. From the claim to the start the title can't change. Moving the task deletes
-- the reminder. If the task's user is erased, no reminder is sent.
--
--    pending ──▶ delivered      a provider accepted the reminder
--        └─────▶ missed         no provider accepted it before the task started
CREATE TABLE reminders.reminder (
    -- Begins with seq, so that new rows go to the end of the index. With random ids each new row would write to a
    -- different page of the index.
    id uuid PRIMARY KEY,
    -- The order in which tasks were claimed: the number of the batch, and twelve bits for the place in it. Only one
    -- claim runs at a time, so this is also the order of commits.
    seq bigint NOT NULL,
    task_id uuid NOT NULL,
    starts_at timestamptz NOT NULL,
    claimed_at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'delivered', 'missed')),
    delivered_at timestamptz
)
-- Each row is updated once. The page has space for the new version, and the changed columns have no index, so the
-- update writes to no index.
WITH (fillfactor = 50);

-- Finds the reminder of a task, and old reminders.
CREATE INDEX reminder_task ON reminders.reminder (starts_at, task_id);

-- The batches of claims. The ids of a claim's reminders begin with the number of the batch.
CREATE TABLE reminders.claim (
    batch bigint PRIMARY KEY,
    -- When the last room of this batch closes.
    closes_at timestamptz NOT NULL,
    -- The earliest start of a pending reminder of this batch. NULL: no reminder is pending. A delivered reminder
    -- doesn't change the column at once.
    expires_at timestamptz,
    -- The daemon that made the claim, so that it finds a claim whose answer was lost. The default is a setting of the
    -- sessions that claim.
    claimer text DEFAULT current_setting('letsswitch.claimer', true)
);
CREATE INDEX claim_closing ON reminders.claim (closes_at);
CREATE INDEX claim_expiring ON reminders.claim (expires_at) WHERE expires_at IS NOT NULL;

CREATE SEQUENCE reminders.batch;
