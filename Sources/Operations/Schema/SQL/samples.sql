-- For the page of operators.

-- Stores a daemon's sample, and returns those of the others that are alive.
CREATE FUNCTION letsswitch.share_sample(p_id uuid, p_sample text) RETURNS TABLE (sample text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := letsswitch.clock();
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO letsswitch.daemon_sample AS known (daemon_id, sample, written_at) VALUES (p_id, p_sample, v_now)
    ON CONFLICT (daemon_id) DO UPDATE SET sample = excluded.sample, written_at = excluded.written_at;
    DELETE FROM letsswitch.daemon_sample WHERE daemon_id IN (
        SELECT past.daemon_id FROM letsswitch.daemon_sample AS past
        WHERE past.written_at < v_now - interval '1 minute' FOR UPDATE SKIP LOCKED
    );
    RETURN QUERY
    SELECT other.sample FROM letsswitch.daemon_sample AS other
    WHERE other.daemon_id <> p_id AND other.written_at > v_now - interval '15 s';
END
$$;

-- Reminders of the next hour, counted to 10,000, and by how many seconds the earliest is late.
CREATE FUNCTION letsswitch.due_soon(OUT due bigint, OUT late double precision)
LANGUAGE sql STABLE AS $$
    SELECT count(*), greatest(0, extract(epoch FROM letsswitch.clock() - min(soon.reminds_at)))::double precision
    FROM (
        SELECT due.reminds_at FROM letsswitch.due
        WHERE due.reminds_at < letsswitch.clock() + interval '1 hour'
        ORDER BY due.reminds_at LIMIT 10000
    ) AS soon
$$;
