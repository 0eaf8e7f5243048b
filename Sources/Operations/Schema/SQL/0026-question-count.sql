-- question_count is the number of a session's questions that aren't dismissed. Before, it also counted dismissed questions.
UPDATE letsswitch.question_session SET question_count = (
    SELECT count(*) FROM letsswitch.question
    WHERE question.session_id = question_session.id AND question.state <> 'dismissed'
)
WHERE question_count > 0;
