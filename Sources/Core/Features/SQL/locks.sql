-- Advisory locks of devices, held until the end of the transaction. Their keys begin with 19539 ("LS") and the numbers
-- after it, so that they differ from the locks of other programs.
--
-- A transaction that needs several locks takes them in this order, so that no two transactions wait for each other:
--   1. core.lock_erasing or core.lock_erasing_shared of its devices
--   2. reminders.lock_claims_shared
--   3. core.lock_device of one device
--   4. rows of schedule.series, then schedule.lock_slot in order of time; or notifications.lock_address
--   5. the rows that tasks.sql of the schedule lists

-- Takes the lock of a device's quotas: only one transaction at a time counts the device's rows and adds to them. The
-- check of a quota and the insert after it are therefore one step, and the quota is exact.
CREATE FUNCTION core.lock_device(p_device text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19541, hashtext(p_device)) $$;

-- Takes lock_device if no other transaction holds it, and returns whether it did. A transaction that visits several
-- devices uses this function. It can't take their locks in a fixed order, so it mustn't wait for them.
CREATE FUNCTION core.try_lock_device(p_device text) RETURNS boolean
LANGUAGE sql AS $$ SELECT pg_try_advisory_xact_lock(19541, hashtext(p_device)) $$;

-- Takes the lock for erasing a device. Waits for the transactions that hold lock_erasing_shared, because the erasure
-- has to find the rows that they store.
CREATE FUNCTION core.lock_erasing(p_device text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19543, hashtext(p_device)) $$;

-- Delays the erasure of a device until the end of the transaction. Many transactions can hold this lock at once. It is
-- taken before any row lock.
CREATE FUNCTION core.lock_erasing_shared(p_device text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(19543, hashtext(p_device)) $$;

-- Whether an error has a cause other than the row that was being processed: a lost connection, a read-only database, a
-- deadlock, too few resources, a cancelled query, or I/O.
CREATE FUNCTION core.is_transient_error(p_sqlstate text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT left(p_sqlstate, 2) IN ('08', '25', '40', '53', '57', '58')
$$;
