-- The schedule's tables. The migrator has made the schema; every name is qualified, whatever the search path is.

-- The only function that reads time. Tests replace it.
CREATE FUNCTION letsswitch.clock() RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() $$;

-- A device's push token, hexadecimal.
CREATE TABLE letsswitch.device (
    id text PRIMARY KEY,
    push_token text NOT NULL,
    sandbox boolean NOT NULL
);

-- A device's promise to start something at an instant.
--
--   registered ──(another device, same slot)──▶ paired
--       │                                         │
--       └──────────────▶ claimed ◀────────────────┘     at reminds_at; never a partner from then on
--
-- Two tasks that are paired are a match; its room is the one that both name.
CREATE TABLE letsswitch.task (
    id uuid PRIMARY KEY,
    -- The order of registration: first come, first served.
    registered bigint GENERATED ALWAYS AS IDENTITY,
    -- NULL: the person was erased, and only the match remains of the task. Then the title is NULL too.
    device_id text,
    title text,
    starts_at timestamptz NOT NULL,
    -- Fixed at registration, whatever the lead is later.
    reminds_at timestamptz NOT NULL,
    -- The wish as it was made: zone, and time on the wall clock (HH:MM, or HH:MM:SS).
    time_zone text NOT NULL,
    start_time text NOT NULL,
    -- The match's room, once paired; until then the room that a match would get.
    room_id uuid NOT NULL,
    -- When that room closes; the same for both tasks of a match. It is open from the first claim of either.
    closes_at timestamptz NOT NULL,
    -- The partner's task; no foreign key, because the partner's row may be gone (erased) when the match is over.
    partner_id uuid,
    CONSTRAINT task_slot UNIQUE (device_id, starts_at),
    CONSTRAINT task_erased CHECK ((device_id IS NULL) = (title IS NULL)),
    CONSTRAINT task_erased_unpaired CHECK (device_id IS NOT NULL OR partner_id IS NOT NULL)
);
-- The zone of a device's latest task.
CREATE INDEX task_latest ON letsswitch.task (device_id, registered);
CREATE INDEX task_room ON letsswitch.task (room_id);
-- Those who wait, or have waited in vain, for a partner.
CREATE INDEX task_single ON letsswitch.task (starts_at) WHERE partner_id IS NULL;
CREATE INDEX task_anonymous ON letsswitch.task (starts_at) WHERE device_id IS NULL;

-- What the scheduler waits for: a row for each task that has not been claimed. To claim is to delete it, which touches no
-- index, where marking the task would write an entry to each of the task's. Its lock is the task's: whoever pairs,
-- retitles, cancels, erases or claims holds it, and looks at the task once more then.
CREATE TABLE letsswitch.due (
    reminds_at timestamptz NOT NULL,
    registered bigint NOT NULL,
    task_id uuid NOT NULL,
    -- The task's, so that the claim need not look.
    starts_at timestamptz NOT NULL,
    closes_at timestamptz NOT NULL,
    PRIMARY KEY (reminds_at, registered)
);

-- The outbox: one for each task that was claimed, written in the transaction that opens the room. What is sent is read
-- from the task, which doesn't change any more, unless somebody is erased: then nobody gets it.
--
--   pending ──▶ delivered      a channel took it
--      └──────▶ missed         the task started before any channel did
CREATE TABLE letsswitch.reminder (
    -- Begins with seq, so that new ones go to the end of the index: at random places each would cost a page.
    id uuid PRIMARY KEY,
    -- Firing order: the claim's batch, and twelve bits of place in it. Claims are serialised, so it is the order of
    -- commits too.
    seq bigint NOT NULL,
    task_id uuid NOT NULL,
    starts_at timestamptz NOT NULL,
    fired_at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'delivered', 'missed')),
    delivered_at timestamptz
)
-- Each is updated once. There is room for that on its page, and no index has the columns: none is written then.
WITH (fillfactor = 50);
-- From the task; and what is past.
CREATE INDEX reminder_task ON letsswitch.reminder (starts_at, task_id);

-- What one statement claimed. Its reminders are those whose ids begin with its batch.
CREATE TABLE letsswitch.claim (
    batch bigint PRIMARY KEY,
    -- When the last of its rooms closes.
    closes_at timestamptz NOT NULL,
    -- When the first of its pending reminders starts; NULL when there is none. Not moved by what is delivered.
    expires_at timestamptz
);
CREATE INDEX claim_closing ON letsswitch.claim (closes_at);
CREATE INDEX claim_expiring ON letsswitch.claim (expires_at) WHERE expires_at IS NOT NULL;

CREATE SEQUENCE letsswitch.batch;
