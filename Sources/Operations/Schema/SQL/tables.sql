-- The tables of no single feature: secrets, daemons, and devices that are being erased.
--
-- The tables of all features and these form the first migration. This file comes first, because the other files use its
-- function and its table of secrets. The migrator creates the schema. Every name is qualified, so the search path doesn't
-- matter. The statements don't change after their release: a later change is another migration.

-- The only function that reads the time. Tests replace it, so the migrator doesn't install it again.
CREATE FUNCTION letsswitch.clock() RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() $$;

-- Random keys that all daemons share. The daemons generate further ones; the first daemon that needs a key stores it.
CREATE TABLE letsswitch.secret (
    name text PRIMARY KEY,
    value bytea NOT NULL
);

INSERT INTO letsswitch.secret (name, value) VALUES
    -- The key of the tags that stand for devices in events and in records of erasures.
    ('person', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
    -- The key of the ids of rooms that belong to no match. All daemons compute the same ids.
    ('room-keys', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- Daemons --------------------------------------------------------------------------------------------------------------

-- The running daemons on this database. A daemon counts up `beats` while it runs. The other daemons watch the count, each
-- by its own clock, and delete the row of a daemon that has stopped counting.
CREATE TABLE letsswitch.daemon (
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

-- Measurements that daemons share for the operators' page. They may be lost, so they aren't logged.
CREATE UNLOGGED TABLE letsswitch.daemon_sample (
    daemon_id uuid PRIMARY KEY,
    sample text NOT NULL,
    written_at timestamptz NOT NULL
)
WITH (fillfactor = 50);

-- Erasing devices ------------------------------------------------------------------------------------------------------

-- Devices that are being erased. Everything that a device registered before the request is invisible at once, and its rows
-- are deleted in steps. This row is deleted last. The view visible_task shows what other users may still see of a task.
CREATE TABLE letsswitch.erasure (
    device_id text PRIMARY KEY,
    -- The device's latest task, by `registered`.
    up_to bigint NOT NULL,
    -- The device's tag in events, and the id of the latest event that has its data.
    person text,
    events_up_to bigint NOT NULL,
    -- When the next step runs.
    next_try_at timestamptz NOT NULL
);
CREATE INDEX erasure_due ON letsswitch.erasure (next_try_at);
CREATE INDEX erasure_person ON letsswitch.erasure (person);

-- Recently erased devices, by their tags in events. A request that began before the erasure stores nothing any more. Rows
-- are deleted after minutes.
CREATE TABLE letsswitch.erased (
    person text PRIMARY KEY,
    erased_at timestamptz NOT NULL
);
CREATE INDEX erased_past ON letsswitch.erased (erased_at);
