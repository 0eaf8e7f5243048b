-- The daemons on this database: each has a row from its start to its end, and counts in it while it lives. Others judge by whether
-- it counts, each by its own clock.
CREATE TABLE letsswitch.daemon (
    -- The id of one run of a daemon.
    id uuid PRIMARY KEY,
    -- The number of its heartbeats.
    beats bigint NOT NULL,
    -- The host name and build version, shown to operators only. No code depends on them.
    host text NOT NULL,
    build text NOT NULL,
    -- The version of the language that it speaks on the bus, and which bus that is.
    language integer NOT NULL,
    bus text NOT NULL,
    -- When the count last changed. A newly started daemon uses it to recognise rows of dead daemons.
    seen_at timestamptz NOT NULL
)
-- Each row is updated every few seconds: there is space for that on its page.
WITH (fillfactor = 50);

-- By which rooms that aren't matches' get their UUIDs, the same with all daemons.
INSERT INTO letsswitch.secret (name, value)
VALUES ('room-keys', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
