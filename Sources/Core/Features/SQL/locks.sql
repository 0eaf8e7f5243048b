-- Locks of devices, until the end of the transaction. 19539 ("LS") and its neighbours keep other users of advisory locks
-- away.
--
-- A transaction that needs several locks takes them in this order, so that no two transactions wait for each other:
--   1. core.lock_erasing or core.lock_erasing_shared of its devices
--   2. reminders.lock_claims_shared
--   3. core.lock_device of one device
--   4. rows of schedule.series, then schedule.lock_slot in order of time; or notifications.lock_address
--   5. the rows that tasks.sql of the schedule lists

-- One transaction at a time counts a device's rows and adds to them. A quota of a device is therefore exact: a check
-- and the insert that follows are one step.
CREATE FUNCTION core.lock_device(p_device text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19541, hashtext(p_device)) $$;

-- Takes lock_device if no other transaction holds it. A transaction that looks through several devices uses this, because it would hold
-- their locks in no order.
CREATE FUNCTION core.try_lock_device(p_device text) RETURNS boolean
LANGUAGE sql AS $$ SELECT pg_try_advisory_xact_lock(19541, hashtext(p_device)) $$;

-- Nothing of a device's is being stored that its erasing would have to find.
CREATE FUNCTION core.lock_erasing(p_device text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19543, hashtext(p_device)) $$;

-- Blocks the erasing of a device while it is held; many transactions can hold it. It is taken before any row lock.
CREATE FUNCTION core.lock_erasing_shared(p_device text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(19543, hashtext(p_device)) $$;

-- Whether an error has nothing to do with the row at which it struck: lost connections, a read-only database, deadlocks, want
-- of resources, cancelling, I/O.
CREATE FUNCTION core.is_transient_error(p_sqlstate text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT left(p_sqlstate, 2) IN ('08', '25', '40', '53', '57', '58')
$$;
