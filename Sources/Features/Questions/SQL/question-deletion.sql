-- Deletion of questions: when a device is erased, and when they are old.

-- Deletes the content of at most p_limit questions of a device that is being erased. Returns whether none are left.
CREATE FUNCTION questions.erase_rows(p_device text, p_limit integer) RETURNS boolean
LANGUAGE sql AS $$ SELECT questions.empty_questions(p_device, p_limit) < p_limit $$;

-- Deletes the content of at most p_limit questions of a device. The announcements and titles of the device's sessions
-- are deleted at once. The sessions stay, because other users may be in them. Returns the number of changed questions.
-- If it is p_limit, more may be left.
CREATE FUNCTION questions.empty_questions(p_device text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_session uuid;
    v_questions uuid[];
    v_count integer := 0;
    v_version bigint;
BEGIN
    DELETE FROM questions.announcement WHERE announcement.session_id = ANY (ARRAY(
        SELECT own.id FROM questions.question_session AS own WHERE own.device_id = p_device));
    FOR v_session IN
        SELECT own.id FROM questions.question_session AS own WHERE own.device_id = p_device ORDER BY own.id FOR UPDATE
    LOOP
        UPDATE questions.question_session SET device_id = NULL, title = '' WHERE question_session.id = v_session;
        -- Daemons keep a session's title until the session's version changes.
        PERFORM questions.count_changes(v_session, 1);
    END LOOP;
    WHILE v_count < p_limit LOOP
        SELECT question.session_id INTO v_session FROM questions.question
        WHERE question.device_id = p_device ORDER BY question.session_id LIMIT 1;
        EXIT WHEN NOT FOUND;
        PERFORM FROM questions.question_session WHERE id = v_session FOR UPDATE;
        v_questions := ARRAY(
            SELECT question.id FROM questions.question
            WHERE question.device_id = p_device AND question.session_id = v_session LIMIT p_limit - v_count
        );
        v_version := questions.count_changes(v_session, cardinality(v_questions)) - cardinality(v_questions);
        UPDATE questions.question_session SET question_count = question_count - (
            SELECT count(*) FROM questions.question AS own
            WHERE own.id = ANY (v_questions) AND own.state <> 'dismissed'
        )
        WHERE question_session.id = v_session;
        UPDATE questions.question SET
            content = NULL, answer = NULL, device_id = NULL, state = 'dismissed',
            version = v_version + gone.place, changed = v_version + gone.place
        FROM unnest(v_questions) WITH ORDINALITY AS gone (id, place)
        WHERE question.id = gone.id;
        v_count := v_count + cardinality(v_questions);
    END LOOP;
    RETURN v_count;
END
$$;

-- Deletes questions asked more than p_retention seconds ago, and sessions that haven't changed since then and have no
-- questions left, at most p_limit rows of each kind. Announcements are deleted after an hour. A session without a
-- presenter's key isn't deleted. Returns the number of deleted or checked rows. If it isn't 0, more may be left.
CREATE FUNCTION questions.delete_old(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_before timestamptz := v_now - make_interval(secs => p_retention);
    v_questions uuid[];
    v_taken bigint;
    v_sum bigint;
BEGIN
    DELETE FROM questions.announcement WHERE announcement.ctid = ANY (ARRAY(
        SELECT past.ctid FROM questions.announcement AS past
        WHERE past.made_at < v_now - interval '1 hour' ORDER BY past.made_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS v_sum = ROW_COUNT;
    v_questions := ARRAY(
        SELECT past.id FROM questions.question AS past
        WHERE past.created_at < v_before ORDER BY past.created_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
    DELETE FROM questions.question_vote WHERE question_vote.ctid = ANY (ARRAY(
        SELECT own.place FROM unnest(v_questions) AS past (id)
        CROSS JOIN LATERAL (
            SELECT vote.ctid AS place FROM questions.question_vote AS vote WHERE vote.question_id = past.id
        ) AS own
        LIMIT p_limit
    ));
    GET DIAGNOSTICS v_taken = ROW_COUNT;
    v_sum := v_sum + v_taken;
    -- Questions are deleted after all of their votes.
    IF v_taken < p_limit THEN
        WITH gone AS (
            DELETE FROM questions.question WHERE question.id = ANY (v_questions) RETURNING question.session_id, question.state
        )
        UPDATE questions.question_session SET question_count = question_count - sums.count
        FROM (
            SELECT gone.session_id, count(*) AS count FROM gone WHERE gone.state <> 'dismissed' GROUP BY gone.session_id
        ) AS sums
        WHERE question_session.id = sums.session_id;
        v_sum := v_sum + cardinality(v_questions);
    END IF;
    DELETE FROM questions.question_session WHERE question_session.id = ANY (ARRAY(
        SELECT past.id FROM questions.question_session AS past
        WHERE past.used_at < v_before AND past.key_digest IS NOT NULL
            AND NOT EXISTS (SELECT FROM questions.question WHERE question.session_id = past.id)
        ORDER BY past.used_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS v_taken = ROW_COUNT;
    RETURN v_sum + v_taken;
END
$$;
