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
    -- The partner's task; no foreign key, because the partner's row may be gone (erased) when the match is over.
    partner_id uuid,
    -- The id that its reminder will have: the row is found from here without an index of its own.
    reminder_id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- When the reminder went out.
    claimed_at timestamptz,
    CONSTRAINT task_slot UNIQUE (device_id, starts_at),
    CONSTRAINT task_erased CHECK ((device_id IS NULL) = (title IS NULL)),
    CONSTRAINT task_erased_unpaired CHECK (device_id IS NOT NULL OR partner_id IS NOT NULL)
);
-- The zone of a device's latest task.
CREATE INDEX task_latest ON letsswitch.task (device_id, registered);
CREATE INDEX task_room ON letsswitch.task (room_id);
-- Slots that can be joined: at most one row each.
CREATE INDEX task_open ON letsswitch.task (starts_at) WHERE partner_id IS NULL AND claimed_at IS NULL;
-- What the scheduler waits for.
CREATE INDEX task_due ON letsswitch.task (reminds_at, registered) WHERE claimed_at IS NULL;
CREATE INDEX task_anonymous ON letsswitch.task (starts_at) WHERE device_id IS NULL;

-- Two tasks of two devices in one slot, and their room.
CREATE TABLE letsswitch.match (
    room_id uuid PRIMARY KEY,
    starts_at timestamptz NOT NULL,
    -- The earlier of the two tasks' reminders.
    opens_at timestamptz NOT NULL,
    -- NULL until the claim; also when the claim came after the room would have closed.
    opened_at timestamptz,
    -- Set by the claim: then the room duration is known.
    closes_at timestamptz,
    -- The claim that opened it.
    batch bigint
);
CREATE INDEX match_closing ON letsswitch.match (closes_at) WHERE closes_at IS NOT NULL;
CREATE INDEX match_batch ON letsswitch.match (batch) WHERE batch IS NOT NULL;

-- The outbox: written in the transaction that opens the room.
--
--   pending ──▶ delivered      a channel took it
--      └──────▶ missed         the task started before any channel did
CREATE TABLE letsswitch.reminder (
    id uuid PRIMARY KEY,
    -- Firing order. Claims are serialised, so it is the order of commits too.
    seq bigint GENERATED ALWAYS AS IDENTITY,
    -- The claim that wrote it.
    batch bigint NOT NULL,
    task_id uuid NOT NULL,
    device_id text NOT NULL,
    -- When it should have gone out, and when it did.
    due timestamptz NOT NULL,
    fired_at timestamptz NOT NULL,
    starts_at timestamptz NOT NULL,
    -- NULL for a task without a partner.
    room_id uuid,
    -- The event as it is sent: JSON on one line.
    payload text NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'delivered', 'missed')),
    delivered_at timestamptz
);
CREATE INDEX reminder_device ON letsswitch.reminder (device_id, starts_at);
CREATE INDEX reminder_batch ON letsswitch.reminder (batch);
CREATE INDEX reminder_starts ON letsswitch.reminder (starts_at);
CREATE INDEX reminder_pending ON letsswitch.reminder (starts_at) WHERE state = 'pending';

CREATE SEQUENCE letsswitch.batch;
