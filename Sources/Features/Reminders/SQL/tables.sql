-- The tables of reminders: due tasks, reminders and claims. They are part of the first migration.

-- The tasks that the scheduler will claim, one row per unclaimed task. A claim deletes the row, which writes to no index.
-- Marking the task instead would write to each index of the task. The row's lock is the task's lock: transactions that
-- match, rename, cancel, erase or claim a task lock the row, and then read the task again.
CREATE TABLE letsswitch.due (
    reminds_at timestamptz NOT NULL,
    registered bigint NOT NULL,
    task_id uuid NOT NULL,
    -- Copies of the task's columns, so that the claim needn't read the task.
    starts_at timestamptz NOT NULL,
    closes_at timestamptz NOT NULL,
    -- The number of failed claims of this task alone. A task that can't be claimed must not delay the others. It is tried
    -- again after 1, 2, 4, … 64 seconds, and at its start, when it is missed. From then on it is tried once a day, until
    -- the cause is fixed.
    failures integer,
    -- NULL: no claim has failed.
    retry_at timestamptz,
    PRIMARY KEY (reminds_at, registered)
);
CREATE INDEX due_retry ON letsswitch.due (retry_at) WHERE retry_at IS NOT NULL;

-- The outbox of reminders: one row per claimed task, written in the transaction that opens the room. The text is read from
-- the task when the reminder is sent. The task no longer changes, unless its user is erased: then no reminder is sent.
--
--    pending ──▶ delivered      a provider accepted it
--        └──────▶ missed         the task started before any provider did
CREATE TABLE letsswitch.reminder (
    -- Begins with seq, so that new entries go to the end of the index. At random places each would cost a page.
    id uuid PRIMARY KEY,
    -- The order in which tasks were claimed: the batch, and twelve bits for the place in it. Claims are serialised, so this
    -- is the order of commits too.
    seq bigint NOT NULL,
    task_id uuid NOT NULL,
    starts_at timestamptz NOT NULL,
    claimed_at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'delivered', 'missed')),
    delivered_at timestamptz
)
-- Each row is updated once. The page has space for it and the changed columns aren't indexed, so no index is written.
WITH (fillfactor = 50);
-- Finds the reminder of a task, and old reminders.
CREATE INDEX reminder_task ON letsswitch.reminder (starts_at, task_id);

-- The batches of claims. The ids of a claim's reminders begin with its batch.
CREATE TABLE letsswitch.claim (
    batch bigint PRIMARY KEY,
    -- When the last of its rooms closes.
    closes_at timestamptz NOT NULL,
    -- When the first of its pending reminders starts; NULL if there is none. Deliveries don't change it.
    expires_at timestamptz,
    -- The daemon, so that it finds a claim whose answer was lost. Read from a setting of the sessions that claim.
    claimer text DEFAULT current_setting('letsswitch.claimer', true)
);
CREATE INDEX claim_closing ON letsswitch.claim (closes_at);
CREATE INDEX claim_expiring ON letsswitch.claim (expires_at) WHERE expires_at IS NOT NULL;

CREATE SEQUENCE letsswitch.batch;
