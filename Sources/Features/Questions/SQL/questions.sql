-- Question sessions. A statement that changes a session first locks its row and increments its version. It notifies
-- letsswitch_questions with "<session> <version>" in the same transaction, so only stored changes are announced.

-- Adds p_count changes to a session whose row is locked, and notifies the daemons. Returns the version of the last
-- change.
CREATE FUNCTION questions.count_changes(p_session uuid, p_count integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_version bigint;
BEGIN
    UPDATE questions.question_session SET
        version = version + p_count,
        used_at = CASE WHEN used_at < v_now - interval '1 hour' THEN v_now ELSE used_at END
    WHERE id = p_session
    RETURNING version INTO v_version;
    PERFORM pg_notify('letsswitch_questions', p_session || ' ' || v_version);
    RETURN v_version;
END
$$;

-- Sessions ---------------------------------------------------------------------------------------------------------

-- Creates a session of a device. p_most is the limit of sessions of a device. Result codes: made, too_many_sessions.
CREATE FUNCTION questions.make_question_session(
    p_id uuid, p_device text, p_title text, p_is_moderated boolean, p_key_digest text, p_most integer
) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM core.lock_device(p_device);
    IF p_most <= (
        SELECT count(*) FROM (
            SELECT FROM questions.question_session WHERE device_id = p_device LIMIT p_most
        ) AS own
    ) THEN
        RETURN 'too_many_sessions';
    END IF;
    INSERT INTO questions.question_session (id, device_id, title, is_moderated, state, key_digest, used_at)
    VALUES (p_id, p_device, p_title, p_is_moderated, 'open', p_key_digest, core.clock());
    RETURN 'made';
END
$$;

-- Creates the session in which every client has the presenter's rights, if it doesn't exist.
CREATE FUNCTION questions.make_open_question_session(p_id uuid, p_title text) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO questions.question_session (id, title, is_moderated, state, used_at)
    VALUES (p_id, p_title, false, 'open', core.clock())
    ON CONFLICT (id) DO NOTHING
$$;

-- Opens or closes a session. Result codes: done, no_such_session, presenter_only.
CREATE FUNCTION questions.set_question_session(p_id uuid, p_state text, p_keys text[]) RETURNS TABLE (
    code text, id uuid, title text, is_moderated boolean, state text, version bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_session questions.question_session;
BEGIN
    SELECT * INTO v_session FROM questions.question_session WHERE id = p_id FOR UPDATE;
    code := questions.presenter_refusal(v_session, p_keys);
    IF code IS NULL THEN
        code := 'done';
        IF v_session.state <> p_state THEN
            UPDATE questions.question_session SET state = p_state WHERE id = p_id;
            v_session.version := questions.count_changes(p_id, 1);
        END IF;
    END IF;
    RETURN QUERY SELECT code, p_id, v_session.title, v_session.is_moderated, p_state, v_session.version;
END
$$;

-- Returns why a client with these keys (digests) doesn't have the presenter's rights: no_such_session or
-- presenter_only. Returns NULL if the client has the rights.
CREATE FUNCTION questions.presenter_refusal(p_session questions.question_session, p_keys text[]) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN p_session.id IS NULL THEN 'no_such_session'
        WHEN p_session.key_digest IS NOT NULL AND NOT p_session.key_digest = ANY (p_keys) THEN 'presenter_only'
    END
$$;

-- Questions --------------------------------------------------------------------------------------------------------

-- Stores a question. p_per_minute is the limit of questions of one asker per minute. p_most is the limit of a session's
-- questions that aren't dismissed. p_present is the number of seconds since the asker connected. Result codes: asked,
-- no_such_session, session_closed, too_fast, session_full, device_erased.
CREATE FUNCTION questions.ask_question(
    p_id uuid, p_session uuid, p_asker uuid, p_device text, p_content text, p_per_minute integer, p_most integer,
    p_present double precision
) RETURNS TABLE (code text, created_at double precision, state text, version bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_session questions.question_session;
    v_now timestamptz := core.clock();
BEGIN
    -- A client that connected before its device was erased can't store a question after the erasure.
    IF p_device IS NOT NULL THEN
        PERFORM core.lock_erasing_shared(p_device);
        IF EXISTS (
            SELECT FROM core.erased WHERE erased.person = core.person_tag(p_device)
                AND erased.erased_at >= v_now - make_interval(secs => p_present)
        ) THEN
            code := 'device_erased';
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    SELECT * INTO v_session FROM questions.question_session WHERE id = p_session FOR UPDATE;
    v_now := core.clock();
    IF v_session.id IS NULL THEN
        code := 'no_such_session';
    ELSIF v_session.state = 'closed' THEN
        code := 'session_closed';
    ELSIF p_per_minute <= (
        SELECT count(*) FROM (
            SELECT FROM questions.question
            WHERE session_id = p_session AND asked_from = p_asker AND question.created_at > v_now - interval '1 minute'
            LIMIT p_per_minute
        ) AS recent
    ) THEN
        code := 'too_fast';
    ELSIF v_session.question_count >= p_most THEN
        code := 'session_full';
    ELSE
        code := 'asked';
        created_at := extract(epoch FROM v_now);
        state := CASE WHEN v_session.is_moderated THEN 'pending' ELSE 'approved' END;
        version := questions.count_changes(p_session, 1);
        UPDATE questions.question_session SET question_count = question_count + 1 WHERE id = p_session;
        INSERT INTO questions.question
            (id, session_id, number, content, state, asked_from, device_id, created_at, version, changed)
        VALUES (p_id, p_session, version, p_content, state, p_asker, p_device, v_now, version, version);
    END IF;
    RETURN NEXT;
END
$$;

-- Changes a question for a presenter. p_action is answer, approve, dismiss or reopen. In a session without a key every
-- client has the presenter's rights if p_opens_all is true; otherwise the result is no_such_question. Result codes:
-- done, no_such_question, presenter_only, session_closed.
CREATE FUNCTION questions.moderate_question(
    p_id uuid, p_action text, p_answer text, p_keys text[], p_opens_all boolean
) RETURNS TABLE (
    code text, session_version bigint, id uuid, session_id uuid, content text, answered boolean, answer text, state text,
    votes integer, asked_from uuid, asked_at bigint, version bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_session questions.question_session;
    v_old questions.question;
    v_new questions.question;
BEGIN
    SELECT * INTO v_session FROM questions.question_session
    WHERE question_session.id = (SELECT question.session_id FROM questions.question WHERE question.id = p_id)
    FOR UPDATE;
    SELECT question.* INTO v_old FROM questions.question
    JOIN questions.visible_question AS shown ON shown.id = question.id AND shown.content IS NOT NULL
    WHERE question.id = p_id;
    code := questions.moderation_refusal(v_session, v_old, p_keys, p_opens_all);
    IF code IS NOT NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;
    v_new := questions.moderated_question(v_old, p_action, p_answer, v_session.is_moderated);
    IF v_new IS DISTINCT FROM v_old THEN
        v_new := questions.store_moderation(v_old, v_new);
        v_session.version := v_new.version;
    END IF;
    RETURN QUERY SELECT
        'done', v_session.version, v_new.id, v_new.session_id, v_new.content, v_new.answered, v_new.answer, v_new.state,
        v_new.votes, v_new.asked_from, floor(extract(epoch FROM v_new.created_at))::bigint, v_new.version;
END
$$;

-- Returns why a question can't be changed: no_such_question, presenter_only or session_closed. Returns NULL if it can.
CREATE FUNCTION questions.moderation_refusal(
    p_session questions.question_session, p_question questions.question, p_keys text[], p_opens_all boolean
) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN p_session.id IS NULL OR (p_session.key_digest IS NULL AND NOT p_opens_all) THEN 'no_such_question'
        ELSE coalesce(
            questions.presenter_refusal(p_session, p_keys),
            CASE
                WHEN p_question.id IS NULL THEN 'no_such_question'
                WHEN p_session.state = 'closed' THEN 'session_closed'
            END)
    END
$$;

-- Returns a question as it is after the action p_action of moderate_question, without its new version.
CREATE FUNCTION questions.moderated_question(
    p_question questions.question, p_action text, p_answer text, p_is_moderated boolean
) RETURNS questions.question
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_new questions.question := p_question;
BEGIN
    CASE p_action
        WHEN 'answer' THEN
            -- A second answer changes nothing.
            IF NOT p_question.answered THEN
                v_new.answered := true;
                v_new.answer := p_answer;
            END IF;
        WHEN 'approve' THEN v_new.state := 'approved';
        WHEN 'dismiss' THEN v_new.state := 'dismissed';
        WHEN 'reopen' THEN
            v_new.answered := false;
            v_new.answer := NULL;
            v_new.answered_in := NULL;
            IF p_question.state = 'dismissed' THEN
                v_new.state := CASE WHEN p_is_moderated THEN 'pending' ELSE 'approved' END;
            END IF;
    END CASE;
    RETURN v_new;
END
$$;

-- Stores a changed question whose session is locked. Returns the question with its new version.
CREATE FUNCTION questions.store_moderation(p_old questions.question, p_new questions.question) RETURNS questions.question
LANGUAGE plpgsql AS $$
DECLARE
    v_new questions.question := p_new;
BEGIN
    v_new.version := questions.count_changes(p_old.session_id, 1);
    IF v_new.answered AND NOT p_old.answered THEN
        v_new.answered_in := v_new.version;
    END IF;
    IF (v_new.state = 'dismissed') <> (p_old.state = 'dismissed') THEN
        UPDATE questions.question_session
        SET question_count = question_count + CASE WHEN v_new.state = 'dismissed' THEN -1 ELSE 1 END
        WHERE question_session.id = p_old.session_id;
    END IF;
    UPDATE questions.question SET
        answered = v_new.answered, answer = v_new.answer, answered_in = v_new.answered_in, state = v_new.state,
        version = v_new.version, changed = v_new.version
    WHERE question.id = p_old.id;
    RETURN v_new;
END
$$;

-- Stores votes and withdrawn votes, in order. Returns for each its place in the arrays from 1, its result code
-- (counted, no_such_question, session_closed), and the session's version after these votes. A vote in a session that
-- doesn't exist has no row. A repeated vote changes nothing.
CREATE FUNCTION questions.vote_questions(
    p_sessions uuid[], p_questions uuid[], p_voters uuid[], p_are_votes boolean[]
) RETURNS TABLE (place bigint, code text, version bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_session questions.question_session;
    v_vote record;
    v_changed uuid[];
    v_steps integer[];
    v_places bigint[];
BEGIN
    FOR v_session IN
        SELECT * FROM questions.question_session WHERE id = ANY (p_sessions) ORDER BY id FOR UPDATE
    LOOP
        v_changed := '{}';
        v_steps := '{}';
        v_places := '{}';
        FOR v_vote IN
            SELECT given.place, given.question, given.voter, given.is_vote, question.id AS known
            FROM unnest(p_sessions, p_questions, p_voters, p_are_votes) WITH ORDINALITY
                AS given (session, question, voter, is_vote, place)
            LEFT JOIN questions.question ON question.id = given.question AND question.session_id = given.session
                AND question.state = 'approved' AND question.content IS NOT NULL
            WHERE given.session = v_session.id
            ORDER BY given.place
        LOOP
            place := v_vote.place;
            version := NULL;
            IF v_vote.known IS NULL THEN
                code := 'no_such_question';
                RETURN NEXT;
                CONTINUE;
            ELSIF v_session.state = 'closed' THEN
                code := 'session_closed';
                RETURN NEXT;
                CONTINUE;
            ELSIF v_vote.is_vote THEN
                INSERT INTO questions.question_vote (question_id, voter) VALUES (v_vote.question, v_vote.voter)
                ON CONFLICT DO NOTHING;
            ELSE
                DELETE FROM questions.question_vote WHERE question_id = v_vote.question AND voter = v_vote.voter;
            END IF;
            IF FOUND THEN
                v_changed := v_changed || v_vote.question;
                v_steps := v_steps || CASE WHEN v_vote.is_vote THEN 1 ELSE -1 END;
            END IF;
            v_places := v_places || v_vote.place;
        END LOOP;
        IF v_changed <> '{}' THEN
            v_session.version := questions.add_votes(v_session, v_changed, v_steps);
        END IF;
        RETURN QUERY SELECT counted.place, 'counted', v_session.version FROM unnest(v_places) AS counted (place);
    END LOOP;
END
$$;

-- Adds votes to the questions of a session whose row is locked. The arrays have one element for each vote: its
-- question, and 1 or -1. Returns the session's new version.
CREATE FUNCTION questions.add_votes(p_session questions.question_session, p_questions uuid[], p_steps integer[])
RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    WITH sums AS (
        SELECT step.question, sum(step.step) AS step, row_number() OVER (ORDER BY step.question) AS number
        FROM unnest(p_questions, p_steps) AS step (question, step)
        GROUP BY step.question
    )
    UPDATE questions.question SET votes = votes + sums.step, version = p_session.version + sums.number
    FROM sums WHERE question.id = sums.question;
    RETURN questions.count_changes(
        p_session.id, (SELECT count(DISTINCT changed.id) FROM unnest(p_questions) AS changed (id))::integer);
END
$$;

-- Stores an announcement. p_per_minute and p_per_hour are the limits of announcements in a session; NULL means no
-- limit. Result codes: done, no_such_session, presenter_only, session_closed, too_fast.
CREATE FUNCTION questions.announce(
    p_session uuid, p_content text, p_recipients text, p_ids uuid[], p_keys text[],
    p_per_minute integer, p_per_hour integer
) RETURNS TABLE (code text, version bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_session questions.question_session;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_session FROM questions.question_session WHERE id = p_session FOR UPDATE;
    v_now := core.clock();
    code := coalesce(
        questions.presenter_refusal(v_session, p_keys),
        CASE
            WHEN v_session.state = 'closed' THEN 'session_closed'
            WHEN questions.has_announced(p_session, p_per_minute, v_now - interval '1 minute')
                OR questions.has_announced(p_session, p_per_hour, v_now - interval '1 hour') THEN 'too_fast'
            ELSE 'done'
        END);
    IF code = 'done' THEN
        version := questions.count_changes(p_session, 1);
        UPDATE questions.question_session SET announced = question_session.version WHERE id = p_session;
        INSERT INTO questions.announcement (session_id, version, content, recipients, ids, made_at)
        VALUES (p_session, version, p_content, p_recipients, p_ids, v_now);
    END IF;
    RETURN NEXT;
END
$$;

-- Whether at least p_count announcements were made after p_since. Reads at most p_count rows.
CREATE FUNCTION questions.has_announced(p_session uuid, p_count integer, p_since timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT p_count <= (
        SELECT count(*) FROM (
            SELECT announcement.made_at FROM questions.announcement
            WHERE announcement.session_id = p_session ORDER BY announcement.version DESC LIMIT p_count
        ) AS last
        WHERE last.made_at > p_since
    )
$$;
