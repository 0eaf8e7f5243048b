-- Advisory locks of slots and matches, held until the end of the transaction. core/locks.sql has the order of all
-- locks.

-- Locks a slot: only one transaction at a time registers tasks or changes matches in it.
CREATE FUNCTION schedule.lock_slot(p_starts_at timestamptz) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock((19539::bigint << 48) + extract(epoch FROM p_starts_at)::bigint) $$;

-- Locks a match's conversation requests: only one transaction at a time changes what the two partners have asked for.
CREATE FUNCTION schedule.lock_match(p_room uuid) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19544, hashtext(p_room::text)) $$;
