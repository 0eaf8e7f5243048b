-- The deletion of old attendance.

-- Deletes the attendance of rooms that closed more than p_retention seconds ago, and reporters that haven't written for
-- a day, at most p_limit of each. Returns the number of deleted rows of attendance. If it isn't 0, more may be left.
CREATE FUNCTION matches.delete_old(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_count bigint;
BEGIN
    DELETE FROM core.reporter WHERE reporter.id IN (
        SELECT silent.id FROM core.reporter AS silent
        WHERE silent.wrote_at < v_now - interval '1 day' AND NOT silent.must_revert LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    );
    WITH gone AS (
        DELETE FROM core.attendance WHERE attendance.ctid = ANY (ARRAY(
            SELECT over.ctid FROM core.attendance AS over
            WHERE over.closes_at < v_now - make_interval(secs => p_retention) ORDER BY over.closes_at LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        ))
        RETURNING attendance.room_id
    ), left_behind AS (
        DELETE FROM core.presence WHERE presence.room_id IN (SELECT gone.room_id FROM gone)
    )
    SELECT count(*) INTO v_count FROM gone;
    RETURN v_count;
END
$$;
