-- Measurements of the daemons for the operators' page.

-- Stores a daemon's sample. Returns the samples that other daemons have written within the last 15 seconds.
CREATE FUNCTION operations.share_sample(p_id uuid, p_sample text) RETURNS TABLE (sample text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO operations.daemon_sample AS known (daemon_id, sample, written_at) VALUES (p_id, p_sample, v_now)
    ON CONFLICT (daemon_id) DO UPDATE SET sample = excluded.sample, written_at = excluded.written_at;
    DELETE FROM operations.daemon_sample WHERE daemon_id IN (
        SELECT past.daemon_id FROM operations.daemon_sample AS past
        WHERE past.written_at < v_now - interval '1 minute' FOR UPDATE SKIP LOCKED
    );
    RETURN QUERY
    SELECT other.sample FROM operations.daemon_sample AS other
    WHERE other.daemon_id <> p_id AND other.written_at > v_now - interval '15 s';
END
$$;
