-- Reading a session's questions.

-- Questions as clients see them. A question of a device that is being erased has no content, even before the content is
-- deleted.
CREATE VIEW questions.visible_question AS
SELECT
    question.id, question.session_id, question.number,
    CASE WHEN erasure.device_id IS NULL THEN question.content END AS content,
    question.answered, CASE WHEN erasure.device_id IS NULL THEN question.answer END AS answer,
    question.state, question.votes, question.asked_from, question.created_at, question.version
FROM questions.question
LEFT JOIN core.erasure ON erasure.device_id = question.device_id;

-- Returns a session and at most p_limit of its questions in the order in which they were asked. If p_after is one of
-- its questions, the list begins after it. Returns one row without a question if there is none. If p_all is false, only
-- approved questions are returned; if true, questions in every state.
CREATE FUNCTION questions.list_questions(p_session uuid, p_after uuid, p_all boolean, p_limit integer) RETURNS TABLE (
    title text, is_moderated boolean, session_state text, key_digest text, session_version bigint,
    id uuid, session_id uuid, content text, answered boolean, answer text, state text,
    votes integer, asked_from uuid, asked_at bigint, version bigint
)
LANGUAGE sql STABLE AS $$
    SELECT
        session.title, session.is_moderated, session.state, session.key_digest, session.version,
        listed.id, session.id, listed.content, listed.answered, listed.answer, listed.state,
        listed.votes, listed.asked_from, floor(extract(epoch FROM listed.created_at))::bigint, listed.version
    FROM questions.question_session AS session
    LEFT JOIN LATERAL (
        SELECT * FROM questions.visible_question AS question
        WHERE question.session_id = session.id AND question.content IS NOT NULL AND (p_all OR question.state = 'approved')
            AND question.number > coalesce((
                SELECT last.number FROM questions.question AS last WHERE last.id = p_after AND last.session_id = session.id
            ), 0)
        ORDER BY question.number LIMIT p_limit
    ) AS listed ON true
    WHERE session.id = p_session
    ORDER BY listed.number
$$;

-- Returns a session, and at most p_limit of its questions that have changed after the version p_after, in the order of
-- their last changes. Returns one row without a question if none has changed.
CREATE FUNCTION questions.changed_questions(p_session uuid, p_after bigint, p_limit integer) RETURNS TABLE (
    title text, is_moderated boolean, session_state text, session_version bigint, announced bigint,
    session_id uuid, id uuid, version bigint,
    -- is_voted: whether only votes have changed the question. was_answered: whether it was answered.
    is_voted boolean, was_answered boolean
)
LANGUAGE sql STABLE AS $$
    SELECT
        session.title, session.is_moderated, session.state, session.version, session.announced,
        session.id, question.id, question.version, question.changed <= p_after,
        coalesce(question.answered_in > p_after, false)
    FROM questions.question_session AS session
    LEFT JOIN LATERAL (
        SELECT own.id, own.version, own.changed, own.answered_in FROM questions.question AS own
        WHERE own.session_id = session.id AND own.version > p_after
        ORDER BY own.version LIMIT p_limit
    ) AS question ON true
    WHERE session.id = p_session
    ORDER BY question.version
$$;

-- Returns the current state of these questions in the given order. Deleted questions are left out.
CREATE FUNCTION questions.questions_by_id(p_ids uuid[]) RETURNS TABLE (
    id uuid, session_id uuid, content text, answered boolean, answer text, state text,
    votes integer, asked_from uuid, asked_at bigint, version bigint,
    -- Whether the question hasn't changed since it was asked.
    is_new boolean
)
LANGUAGE sql STABLE AS $$
    SELECT
        question.id, question.session_id, question.content, question.answered, question.answer, question.state,
        question.votes, question.asked_from, floor(extract(epoch FROM question.created_at))::bigint, question.version,
        question.version = question.number
    FROM unnest(p_ids) WITH ORDINALITY AS named (id, place)
    CROSS JOIN LATERAL (
        SELECT * FROM questions.visible_question AS known WHERE known.id = named.id
    ) AS question
    ORDER BY named.place
$$;
