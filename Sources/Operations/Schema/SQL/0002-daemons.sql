-- The daemons on this database: each has a row from its start to its end, and counts in it while it lives. Others judge by whether
-- it counts, each by its own clock.
CREATE TABLE letsswitch.daemon (
    -- Of one run of a daemon.
    id uuid PRIMARY KEY,
    -- So often has it said that it lives.
    beats bigint NOT NULL,
    -- For people: the machine's name, and the version of the build.
    host text NOT NULL,
    build text NOT NULL,
    -- The version of the language that it speaks on the bus, and which bus that is.
    language integer NOT NULL,
    bus text NOT NULL,
    -- When it last counted. Tells a daemon that has just come from a row that a dead one has left.
    seen_at timestamptz NOT NULL
)
-- Each is updated every few seconds: there is room for that on its page.
WITH (fillfactor = 50);

-- By which rooms that aren't matches' get their UUIDs, the same with all daemons.
INSERT INTO letsswitch.secret (name, value)
VALUES ('room-keys', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
