-- The tables. The migrator creates the schema. Every name is qualified, so the search path doesn't matter. Functions
-- are in the other files, which are applied again whenever their text has changed. The statements of this file don't
-- change after its release.

-- The only function that reads time. Tests replace it.
CREATE FUNCTION letsswitch.clock() RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() $$;

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
    -- Set at registration. A later change of the lead doesn't affect it.
    reminds_at timestamptz NOT NULL,
    -- The wish as it was made: zone, and time on the wall clock (HH:MM, or HH:MM:SS).
    time_zone text NOT NULL,
    start_time text NOT NULL,
    -- The match's room, once paired; until then the room that a match would get.
    room_id uuid NOT NULL,
    -- When the room closes; the same for both tasks of a match. It is open from the first claim of either.
    closes_at timestamptz NOT NULL,
    -- The partner's task; no foreign key, because the partner's row may be gone (erased) when the match is over.
    partner_id uuid,
    CONSTRAINT task_slot UNIQUE (device_id, starts_at),
    CONSTRAINT task_erased CHECK ((device_id IS NULL) = (title IS NULL)),
    CONSTRAINT task_erased_unpaired CHECK (device_id IS NOT NULL OR partner_id IS NOT NULL)
);
-- The zone of a device's latest task, and what it had registered when it was erased. Of an expression, so that only those who ask
-- for this order use it: to a planner that knows of one task per device, any index that begins with the device is as good as the
-- other for one slot's, and this one would be read through.
CREATE INDEX task_latest ON letsswitch.task ((device_id || ''), registered);
CREATE INDEX task_room ON letsswitch.task (room_id);
-- Tasks that wait for a partner or have waited in vain.
CREATE INDEX task_single ON letsswitch.task (starts_at, reminds_at) WHERE partner_id IS NULL;
CREATE INDEX task_anonymous ON letsswitch.task (starts_at) WHERE device_id IS NULL;

-- Devices that are being erased. What a device had registered before its request is invisible from then on, and its
-- rows are deleted in steps; this row is the last of them. `visible_task` shows only what others may see of a task.
CREATE TABLE letsswitch.erasure (
    device_id text PRIMARY KEY,
    -- The latest of its tasks, by `registered`.
    up_to bigint NOT NULL,
    -- The tag by which events name it, and the latest of those that tell of it, by id.
    person text,
    events_up_to bigint NOT NULL,
    -- When the next of its rows are deleted.
    next_try_at timestamptz NOT NULL
);
CREATE INDEX erasure_due ON letsswitch.erasure (next_try_at);
CREATE INDEX erasure_person ON letsswitch.erasure (person);

-- What the scheduler waits for: one row per unclaimed task. A claim deletes the row, which writes no index, while
-- marking the task would write an entry to each of the task's indexes. Its lock is the task's lock: matching,
-- retitling, cancelling, erasing and claiming hold it, and then read the task again.
CREATE TABLE letsswitch.due (
    reminds_at timestamptz NOT NULL,
    registered bigint NOT NULL,
    task_id uuid NOT NULL,
    -- The task's, so that the claim need not look.
    starts_at timestamptz NOT NULL,
    closes_at timestamptz NOT NULL,
    -- Claims of it alone that failed: a task that can't be claimed must not keep the others from their minute. It is tried again
    -- after 1, 2, 4, … 64 seconds, at its start for the last time (it is missed then), and from there on once a day, until
    -- whatever is wrong with it has been mended.
    failures integer,
    -- NULL: it hasn't failed yet.
    retry_at timestamptz,
    PRIMARY KEY (reminds_at, registered)
);
CREATE INDEX due_retry ON letsswitch.due (retry_at) WHERE retry_at IS NOT NULL;

-- The outbox: one row per claimed task, written in the transaction that opens the room. The text is read from the task
-- when it is sent. The task no longer changes, unless its user is erased: then the reminder isn't sent.
--
--
--    pending ──▶ delivered      a provider accepted it
--        └──────▶ missed         the task started before any provider did
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
-- Each row is updated once. There is space for that on its page, and the columns aren't indexed, so no index is
-- written.
WITH (fillfactor = 50);
-- From the task; and what is past.
CREATE INDEX reminder_task ON letsswitch.reminder (starts_at, task_id);

-- The result of one claiming statement. Its reminders are those whose ids begin with its batch.
CREATE TABLE letsswitch.claim (
    batch bigint PRIMARY KEY,
    -- When the last of its rooms closes.
    closes_at timestamptz NOT NULL,
    -- When the first of its pending reminders starts; NULL if there is none. Deliveries don't change it.
    expires_at timestamptz,
    -- Which daemon's it is, so that it finds the claim whose answer was lost. A setting of the sessions that claim.
    claimer text DEFAULT current_setting('letsswitch.claimer', true)
);
CREATE INDEX claim_closing ON letsswitch.claim (closes_at);
CREATE INDEX claim_expiring ON letsswitch.claim (expires_at) WHERE expires_at IS NOT NULL;

CREATE SEQUENCE letsswitch.batch;

-- Keys that the daemons generate and share. The first daemon creates them.
CREATE TABLE letsswitch.secret (
    name text PRIMARY KEY,
    value bytea NOT NULL
);
-- By which devices get the tags that stand for them where they must not be named.
INSERT INTO letsswitch.secret (name, value)
VALUES ('person', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- Where a device is reached: a push token, a browser's subscription, a topic.
CREATE TABLE letsswitch.address (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    device_id text NOT NULL,
    channel text NOT NULL CHECK (channel IN ('apns', 'webpush', 'ntfy')),
    -- The channel's own name for it, no longer than an index entry may be.
    address text NOT NULL CHECK (octet_length(address) <= 2048),
    -- Further data for the provider: a JSON object.
    details text NOT NULL,
    registered_at timestamptz NOT NULL,
    -- When it was registered or its device registered a task, to about a day.
    used_at timestamptz NOT NULL,
    CONSTRAINT address_once UNIQUE (channel, address)
);
CREATE INDEX address_unused ON letsswitch.address (used_at);
CREATE INDEX address_device ON letsswitch.address (device_id, channel, registered_at);

-- The ways that reminders and events take: those that a daemon has served within a day.
CREATE TABLE letsswitch.provider (
    name text PRIMARY KEY CHECK (name IN ('apns', 'webpush', 'ntfy', 'webhook')),
    -- Receives every event, at an address from the settings. The other providers send reminders to people's addresses.
    subscribes boolean NOT NULL GENERATED ALWAYS AS (name = 'webhook') STORED,
    -- How often a daemon has started with it.
    starts bigint NOT NULL DEFAULT 1,
    -- When a daemon last wrote that it serves the provider, to ten minutes.
    seen_at timestamptz NOT NULL,
    -- Its server wants nothing any more, so nothing is written for it until a daemon starts with it again.
    turned_away_at timestamptz
);

-- Events that some subscriber still has to receive. Written in the transaction in which they happen.
CREATE SEQUENCE letsswitch.event_number;
CREATE TABLE letsswitch.event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Grows in the order of the facts: it is taken while whatever orders them is locked. NULL: it is written down, but hasn't
    -- happened yet.
    number bigint DEFAULT nextval('letsswitch.event_number'),
    -- task.registered, task.retitled, task.cancelled, match.created, reminder, room.opened, room.joined, room.left, room.closed,
    -- device.erased
    type text NOT NULL,
    happened_at timestamptz NOT NULL,
    -- The tag of the device whose it is. NULL where that is read from the tasks as it is sent.
    person text,
    -- A task's, or a match's two.
    task_ids uuid[],
    reminder_id uuid,
    room_id uuid,
    starts_at timestamptz,
    closes_at timestamptz,
    -- The number of peers in the room afterwards.
    peers integer,
    -- Personal data, removed when the person is erased.
    title text,
    start_time text,
    time_zone text
);
-- Events with data to remove when a person is erased.
CREATE INDEX event_person ON letsswitch.event (person, id) WHERE title IS NOT NULL;

-- What delivery workers have to send: one row per reminder and address, and one per event and subscriber. Written in
-- the transaction of the reminder or the event.
--
--
--    waiting ──(lease)──▶ leased by a daemon ──▶ deleted      accepted, refused, the address is gone, too late
--        ▲                        │
--        └──(next_try_at)─────────┘      to be tried again; or the daemon died, and the lease expired
CREATE TABLE letsswitch.delivery (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel text NOT NULL,
    -- A reminder, which goes before everything else that is due: it is worth something for a minute.
    urgent boolean NOT NULL,
    -- Tells a repeat. A reminder's own id, wherever it goes.
    message_id uuid NOT NULL,
    -- A reminder's: what is sent is read from it as it is sent.
    task_id uuid,
    -- NULL: the channel has one address, which is a setting.
    address_id bigint,
    -- NULL: a reminder to an address.
    event_id bigint,
    created_at timestamptz NOT NULL,
    -- While it is leased: when the lease ends.
    next_try_at timestamptz NOT NULL,
    -- Not sent any more from then on.
    deadline timestamptz NOT NULL,
    -- Leases so far, but for those that came to nothing by no fault of the delivery. Who holds it knows the number.
    attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX delivery_due ON letsswitch.delivery (channel, urgent, next_try_at);
CREATE INDEX delivery_event ON letsswitch.delivery (event_id) WHERE event_id IS NOT NULL;

-- The members of a match's room, with times. One row per task, and one for all members without a task, so that joining
-- and leaving can't fill the table.
CREATE TABLE letsswitch.attendance (
    room_id uuid NOT NULL,
    -- NULL: peers that gave no task of the match.
    task_id uuid,
    closes_at timestamptz NOT NULL,
    -- The first time.
    came_at timestamptz NOT NULL,
    -- The last join or leave.
    changed_at timestamptz NOT NULL,
    -- Connections that are in the room.
    present integer NOT NULL,
    -- The last time; NULL: is in it, was when it closed, or the daemon died before it could tell.
    left_at timestamptz GENERATED ALWAYS AS (CASE WHEN present <= 0 THEN changed_at END) STORED,
    -- How often one came.
    visits integer NOT NULL,
    -- All who were in the room at one time, on one daemon.
    most_peers integer NOT NULL,
    CONSTRAINT attendance_once UNIQUE NULLS NOT DISTINCT (room_id, task_id)
);
CREATE INDEX attendance_over ON letsswitch.attendance (closes_at);

-- The daemons' attendance reporters with their last reports, so that no report is written twice.
CREATE TABLE letsswitch.reporter (
    id uuid PRIMARY KEY,
    number bigint NOT NULL,
    wrote_at timestamptz NOT NULL
);

-- Feeds of people's tasks, for their calendar programs.
CREATE TABLE letsswitch.calendar (
    device_id text PRIMARY KEY,
    -- The end of the feed's address. It gives access to titles and times only. It isn't hashed, because the device's id
    -- beside it gives access to more.
    secret text NOT NULL CONSTRAINT calendar_secret UNIQUE,
    -- The state in which the tasks were read last: its digest, its number, and since when it is the present one.
    digest text,
    revision integer NOT NULL DEFAULT 0,
    revised_at timestamptz NOT NULL,
    -- When it was asked for or read, or its device registered a task, to about a day.
    used_at timestamptz NOT NULL
);
CREATE INDEX calendar_unused ON letsswitch.calendar (used_at);
