-- How each daemon's bus serves it, for people who ask from elsewhere: null of daemons whose builds don't say.
ALTER TABLE letsswitch.daemon
    -- Whether the bus stands; a daemon that needs none has none that does.
    ADD COLUMN bus_stands boolean,
    -- In milliseconds: the last round trip of a packet to itself, or how long none has come back; null before the first, and without a bus.
    ADD COLUMN bus_delay bigint,
    -- Since the daemon's start: ales of others that never arrived, and its own that no other daemon received.
    ADD COLUMN bus_lost bigint,
    ADD COLUMN bus_dropped bigint;
