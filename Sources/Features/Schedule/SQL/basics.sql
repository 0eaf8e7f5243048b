-- Shared by the other files: the keys of the locks, and a few small functions.
--
-- The daemon's sessions read tables by index only, and in index order (enable_seqscan, enable_bitmapscan and so on are
-- off). Otherwise a plan made while the tables were small, or for a long array, would read a million rows where a
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

-- One claim at a time.
CREATE FUNCTION letsswitch.lock_claims() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19540::bigint << 48) $$;

-- Blocks claims while it is held; many transactions can hold it. Only for short transactions.
CREATE FUNCTION letsswitch.lock_claims_shared() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(19540::bigint << 48) $$;

-- One transaction at a time counts a device's rows and adds to them. A quota of a device is therefore exact: a check
-- and the insert that follows are one step.
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

-- Blocks the erasing of a device while it is held; many transactions can hold it. It is taken before any row lock.
CREATE FUNCTION letsswitch.lock_erasing_shared(p_device text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(19543, hashtext(p_device)) $$;

-- One change at a time to the requests of a match's partners.
CREATE FUNCTION letsswitch.lock_match(p_room uuid) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19544, hashtext(p_room::text)) $$;

-- Transactions that store several messages wait here for others with one of the same ids, in one order. It is taken
-- after the locks of all conversations.
CREATE FUNCTION letsswitch.lock_messages(p_ids uuid[]) RETURNS void
LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(19545, held.key)
    FROM (SELECT DISTINCT hashtext(wanted.id::text) AS key FROM unnest(p_ids) AS wanted (id) ORDER BY key OFFSET 0) AS held
$$;

-- One report of joins and leaves at a time, so that each event has the number of members in the room.
CREATE FUNCTION letsswitch.lock_presence_events() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19546::bigint << 48) $$;

-- Whether an error has nothing to do with the row at which it struck: lost connections, a read-only database, deadlocks, want
-- of resources, cancelling, I/O.
CREATE FUNCTION letsswitch.is_transient_error(p_sqlstate text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT left(p_sqlstate, 2) IN ('08', '25', '40', '53', '57', '58')
$$;

-- Writing ----------------------------------------------------------------------------------------------------------
