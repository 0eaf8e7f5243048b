-- Returns the data of a device in questions: its question sessions, announcements, questions and votes. Votes are
-- stored under an id that differs in each session. So only votes in sessions in which the device has asked a question
-- are found.
CREATE FUNCTION questions.export_device(p_device text) RETURNS TABLE (kind text, stored jsonb)
LANGUAGE sql STABLE AS $$
    (
        SELECT 'sessions', to_jsonb(session) - 'device_id' - 'key_digest'
        FROM questions.question_session AS session WHERE session.device_id = p_device)
    UNION ALL (
        SELECT 'announcements', to_jsonb(announcement)
        FROM questions.question_session AS session
        JOIN questions.announcement ON announcement.session_id = session.id
        WHERE session.device_id = p_device ORDER BY announcement.made_at)
    UNION ALL (
        SELECT 'questions', to_jsonb(question) - 'device_id'
        FROM questions.question WHERE question.device_id = p_device ORDER BY question.created_at)
    UNION ALL (
        SELECT DISTINCT 'votes', jsonb_build_object('question_id', vote.question_id)
        FROM questions.question AS asked
        JOIN questions.question AS voted ON voted.session_id = asked.session_id
        JOIN questions.question_vote AS vote ON vote.question_id = voted.id AND vote.voter = asked.asked_from
        WHERE asked.device_id = p_device)
$$;
