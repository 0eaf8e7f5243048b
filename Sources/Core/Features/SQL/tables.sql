-- The tables that features share: secrets, daemons, devices that are being erased, and blocks. They are part of the first
-- migration, before the tables of the features.
--
-- The migrator creates the schemas. Every name is qualified, so the search path doesn't matter. The statements don't change
-- after their release: a later change is another migration.

-- The only function that reads the time. Tests replace it, so the migrator doesn't install it again.
CREATE FUNCTION core.clock() RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() $$;

-- Random keys that all daemons share. The daemons generate further ones; the first daemon that needs a key stores it.
CREATE TABLE core.secret (
    name text PRIMARY KEY,
    value bytea NOT NULL
);

INSERT INTO core.secret (name, value) VALUES
    -- The key of the tags that stand for devices in events and in records of erasures.
    ('person', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
    -- The key of the ids of rooms that belong to no match. All daemons compute the same ids.
    ('room-keys', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- The running daemons on this database. A daemon counts up `beats` while it runs. The other daemons watch the count, each
-- by its own clock, and delete the row of a daemon that has stopped counting.
CREATE TABLE core.daemon (
    -- The id of one run of a daemon.
    id uuid PRIMARY KEY,
    -- The number of heartbeats.
    beats bigint NOT NULL,
    -- The host name and build version, shown to operators only. No code depends on them.
    host text NOT NULL,
    build text NOT NULL,
    -- The version of the bus's messages that the daemon understands, and the bus that it uses.
    bus_version integer NOT NULL,
    bus text NOT NULL,
    -- When `beats` last changed. A newly started daemon recognises rows of dead daemons by it.
    seen_at timestamptz NOT NULL,
    -- Whether the bus is connected. False for a daemon that needs no bus.
    is_bus_connected boolean NOT NULL,
    -- The milliseconds of the last round trip of a packet to the daemon itself, or since a packet last came back. NULL
    -- before the first packet, and without a bus.
    bus_delay bigint,
    -- Since the daemon's start: other daemons' ales that never arrived, and its own ales that no other daemon received.
    bus_lost bigint NOT NULL,
    bus_dropped bigint NOT NULL
)
-- Each row is updated every few seconds. The space lets the update stay on its page.
WITH (fillfactor = 50);

-- Devices that are being erased. Everything that a device registered before the request is invisible at once, and its rows
-- are deleted in steps. This row is deleted last. Views such as schedule.visible_task show what other users may still see.
CREATE TABLE core.erasure (
    device_id text PRIMARY KEY,
    -- The device's latest task, by schedule.task.registered. 0: it had none.
    up_to bigint NOT NULL DEFAULT 0,
    -- The device's tag in events, and the id of the latest event that has its data.
    person text,
    events_up_to bigint NOT NULL,
    -- When the next step runs.
    next_try_at timestamptz NOT NULL
);
CREATE INDEX erasure_due ON core.erasure (next_try_at);
CREATE INDEX erasure_person ON core.erasure (person);

-- Recently erased devices, by their tags in events. A request that began before the erasure stores nothing any more. Rows
-- are deleted after minutes.
CREATE TABLE core.erased (
    person text PRIMARY KEY,
    erased_at timestamptz NOT NULL
);
CREATE INDEX erased_past ON core.erased (erased_at);

-- Users whom a device doesn't want to meet, neither as a partner nor in conversations. The other user isn't notified.
CREATE TABLE core.block (
    id uuid PRIMARY KEY,
    device_id text NOT NULL,
    blocked_id text NOT NULL,
    -- How the list shows the blocked user: by the name in conversations, or by the task of a former partner.
    name text COLLATE "C",
    title text,
    starts_at timestamptz,
    blocked_at timestamptz NOT NULL,
    -- When the device last used the server, to about a day.
    used_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT block_label CHECK ((name IS NULL) = (title IS NOT NULL AND starts_at IS NOT NULL))
);

-- At most one block by name and one by task for the same two devices.
CREATE UNIQUE INDEX block_pair ON core.block (device_id, blocked_id, (name IS NULL));
CREATE INDEX block_blocked ON core.block (blocked_id, device_id);
CREATE INDEX block_list ON core.block (device_id, blocked_at, id);
CREATE INDEX block_unused ON core.block (used_at);
