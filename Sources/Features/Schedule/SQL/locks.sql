-- Locks of slots and matches, until the end of the transaction. See core/locks.sql for the order of all locks.

-- One registration at a time in a slot.
CREATE FUNCTION schedule.lock_slot(p_starts_at timestamptz) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock((19539::bigint << 48) + extract(epoch FROM p_starts_at)::bigint) $$;

-- One change at a time to the requests of a match's partners.
CREATE FUNCTION schedule.lock_match(p_room uuid) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19544, hashtext(p_room::text)) $$;
