-- What the other files share: the keys of the locks, and a few small functions.
--
-- Sessions of the daemon reach tables by index alone, and in its order (enable_seqscan, enable_bitmapscan and so on are off in
-- them): a plan that was made while the tables were small, or for an array that is long, would read a million rows where a
-- thousand are wanted.

-- Advisory locks, until the end of the transaction. 19539 ("LS") and its neighbours keep other users of such locks away.
--
-- A transaction that needs several locks takes them in this order, so that no two transactions wait for each other:
--   1. lock_erasing or lock_erasing_shared of its devices
--   2. lock_claims_shared
--   3. lock_device of one device
--   4. rows of series, then lock_slot in order of time, or lock_address
--   5. the rows that tasks.sql lists

-- One registration at a time in a slot.
CREATE FUNCTION letsswitch.lock_slot(p_starts_at timestamptz) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock((19539::bigint << 48) + extract(epoch FROM p_starts_at)::bigint) $$;

-- One claim at a time, whoever makes it.
CREATE FUNCTION letsswitch.lock_claims() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19540::bigint << 48) $$;

-- No claim while somebody holds this, who may be many at a time. Only for what ends at once.
CREATE FUNCTION letsswitch.lock_claims_shared() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(19540::bigint << 48) $$;

-- One transaction at a time counts what a device has and adds to it. So a quota of a device is exact, and a check and the insert that
-- follows it are one step.
CREATE FUNCTION letsswitch.lock_device(p_device text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19541, hashtext(p_device)) $$;

-- Takes lock_device if no other transaction holds it. A transaction that looks through several devices uses this, because it would hold
-- their locks in no order.
CREATE FUNCTION letsswitch.try_lock_device(p_device text) RETURNS boolean
LANGUAGE sql AS $$ SELECT pg_try_advisory_xact_lock(19541, hashtext(p_device)) $$;

-- One change at a time to the device that an address belongs to. Taken after that device's lock.
CREATE FUNCTION letsswitch.lock_address(p_channel text, p_address text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19542, hashtext(p_channel || ' ' || p_address)) $$;

-- Nothing of a device's is being stored that its erasing would have to find.
CREATE FUNCTION letsswitch.lock_erasing(p_device text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19543, hashtext(p_device)) $$;

-- No erasing of a device while somebody holds this, who may be many at a time. Before any row is locked.
CREATE FUNCTION letsswitch.lock_erasing_shared(p_device text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(19543, hashtext(p_device)) $$;

-- One change at a time to what the two of a match ask of each other.
CREATE FUNCTION letsswitch.lock_match(p_room uuid) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19544, hashtext(p_room::text)) $$;

-- Who stores several messages, in whatever conversations, waits here for others who store one of the same ids, and in one order. Behind the
-- locks of all conversations.
CREATE FUNCTION letsswitch.lock_messages(p_ids uuid[]) RETURNS void
LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(19545, held.key)
    FROM (SELECT DISTINCT hashtext(wanted.id::text) AS key FROM unnest(p_ids) AS wanted (id) ORDER BY key OFFSET 0) AS held
$$;

-- One report at a time of people who came and went, so that each event has the number of people in the room.
CREATE FUNCTION letsswitch.lock_presence_events() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19546::bigint << 48) $$;

-- Whether an error has nothing to do with the row at which it struck: lost connections, a read-only database, deadlocks, want
-- of resources, cancelling, I/O.
CREATE FUNCTION letsswitch.is_transient_error(p_sqlstate text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT left(p_sqlstate, 2) IN ('08', '25', '40', '53', '57', '58')
$$;

-- Writing ----------------------------------------------------------------------------------------------------------

CREATE FUNCTION letsswitch.instant_text(p_instant timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT to_char(p_instant AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;
