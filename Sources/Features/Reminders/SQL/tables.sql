-- The tables of reminders: due tasks, reminders and claims. They are part of the first migration.

-- The outbox of reminders: one row per claimed task, written in the transaction that opens the room. The text is read from
-- the task when the reminder is sent. The task no longer changes, unless its user is erased: then no reminder is sent.
--
--    pending ──▶ delivered      a provider accepted it
--        └──────▶ missed         the task started before any provider did
CREATE TABLE reminders.reminder (
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
CREATE INDEX reminder_task ON reminders.reminder (starts_at, task_id);

-- The batches of claims. The ids of a claim's reminders begin with its batch.
CREATE TABLE reminders.claim (
    batch bigint PRIMARY KEY,
    -- When the last of its rooms closes.
    closes_at timestamptz NOT NULL,
    -- When the first of its pending reminders starts; NULL if there is none. Deliveries don't change it.
    expires_at timestamptz,
    -- The daemon, so that it finds a claim whose answer was lost. Read from a setting of the sessions that claim.
    claimer text DEFAULT current_setting('letsswitch.claimer', true)
);
CREATE INDEX claim_closing ON reminders.claim (closes_at);
CREATE INDEX claim_expiring ON reminders.claim (expires_at) WHERE expires_at IS NOT NULL;

CREATE SEQUENCE reminders.batch;
