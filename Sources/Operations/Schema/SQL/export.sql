-- The export of a device.

-- All stored data of a device, for its user: the rows of the tables, each with its kind, one kind after the other. It has no device ids of
-- other users, and no secrets with which somebody could act for the device. Votes are stored under an id that only the session knows, so
-- only votes in sessions in which the device has asked a question are found.
--
-- It is one SELECT, so that a cursor over it reads only as many rows as are fetched.
CREATE FUNCTION letsswitch.export_device(p_device text) RETURNS TABLE (kind text, stored jsonb)
LANGUAGE sql STABLE AS $$
    SELECT 'device', jsonb_build_object('deviceId', p_device, 'exportedAt', letsswitch.clock())
    UNION ALL (
        SELECT 'tasks', to_jsonb(task) - 'device_id' - 'invitation'
        FROM letsswitch.task WHERE task.device_id = p_device ORDER BY task.registered)
    UNION ALL (
        SELECT 'series', to_jsonb(series) - 'device_id'
        FROM letsswitch.series WHERE series.device_id = p_device ORDER BY series.created_until)
    UNION ALL (
        SELECT 'due', to_jsonb(due)
        FROM letsswitch.task JOIN letsswitch.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
        WHERE task.device_id = p_device ORDER BY due.registered)
    UNION ALL (
        SELECT 'reminders', to_jsonb(reminder)
        FROM letsswitch.task
        JOIN letsswitch.reminder ON reminder.starts_at = task.starts_at AND reminder.task_id = task.id
        WHERE task.device_id = p_device ORDER BY reminder.seq)
    UNION ALL (
        SELECT 'attendance', to_jsonb(attendance)
        FROM letsswitch.task
        JOIN letsswitch.attendance ON attendance.room_id = task.room_id AND attendance.task_id = task.id
        WHERE task.device_id = p_device ORDER BY attendance.joined_at)
    UNION ALL (
        SELECT 'presence', to_jsonb(presence) - 'reporter_id'
        FROM letsswitch.task
        JOIN letsswitch.presence ON presence.room_id = task.room_id AND presence.task_id = task.id
        WHERE task.device_id = p_device)
    UNION ALL (
        SELECT 'addresses', to_jsonb(address) - 'device_id'
        FROM letsswitch.address WHERE address.device_id = p_device ORDER BY address.id)
    UNION ALL (
        SELECT 'calendar', to_jsonb(calendar) - 'device_id' - 'digest'
        FROM letsswitch.calendar WHERE calendar.device_id = p_device)
    UNION ALL (
        SELECT 'events', to_jsonb(event)
        FROM letsswitch.event WHERE event.person = letsswitch.person_tag(p_device) AND event.title IS NOT NULL ORDER BY event.id)
    UNION ALL (
        SELECT 'sessions', to_jsonb(session) - 'device_id' - 'key_digest'
        FROM letsswitch.question_session AS session WHERE session.device_id = p_device)
    UNION ALL (
        SELECT 'announcements', to_jsonb(announcement)
        FROM letsswitch.question_session AS session
        JOIN letsswitch.announcement ON announcement.session_id = session.id
        WHERE session.device_id = p_device ORDER BY announcement.made_at)
    UNION ALL (
        SELECT 'questions', to_jsonb(question) - 'device_id'
        FROM letsswitch.question WHERE question.device_id = p_device ORDER BY question.created_at)
    UNION ALL (
        SELECT DISTINCT 'votes', jsonb_build_object('question_id', vote.question_id)
        FROM letsswitch.question AS asked
        JOIN letsswitch.question AS voted ON voted.session_id = asked.session_id
        JOIN letsswitch.question_vote AS vote ON vote.question_id = voted.id AND vote.voter = asked.asked_from
        WHERE asked.device_id = p_device)
    UNION ALL (
        SELECT 'names', to_jsonb(own) - 'device_id' - 'checked_at'
        FROM letsswitch.chat_user AS own WHERE own.device_id = p_device ORDER BY own.id)
    UNION ALL (
        SELECT
            'conversations',
            to_jsonb(conversation) - 'checked_at' - 'epoch' - 'unanswered_by'
                || (to_jsonb(participant) - 'conversation_id' - 'user_id' - 'invited_by')
        FROM letsswitch.chat_user AS own
        CROSS JOIN LATERAL (
            SELECT * FROM letsswitch.participant AS inside
            WHERE CASE WHEN inside.left_number IS NULL THEN inside.user_id END = own.id
            UNION ALL
            SELECT * FROM letsswitch.participant AS gone
            WHERE CASE WHEN gone.left_number IS NOT NULL THEN gone.user_id END = own.id
        ) AS participant
        JOIN letsswitch.conversation ON conversation.id = participant.conversation_id
        WHERE own.device_id = p_device)
    UNION ALL (
        SELECT 'messages', to_jsonb(message) - 'author_id'
        FROM letsswitch.chat_user AS own JOIN letsswitch.message ON message.author_id = own.id
        WHERE own.device_id = p_device ORDER BY message.sent_at)
    UNION ALL (
        SELECT 'reactions', to_jsonb(reaction) - 'user_id'
        FROM letsswitch.chat_user AS own JOIN letsswitch.reaction ON reaction.user_id = own.id
        WHERE own.device_id = p_device ORDER BY reaction.reacted_at)
    UNION ALL (
        SELECT 'blocks', to_jsonb(block) - 'device_id' - 'blocked_id'
        FROM letsswitch.block WHERE block.device_id = p_device ORDER BY block.blocked_at)
    UNION ALL (
        SELECT 'preferences', to_jsonb(preference) - 'device_id' - 'preferred_id'
        FROM letsswitch.preference WHERE preference.device_id = p_device ORDER BY preference.preferred_at)
    UNION ALL (
        SELECT 'erasure', to_jsonb(erasure) - 'device_id' FROM letsswitch.erasure WHERE erasure.device_id = p_device)
    UNION ALL (
        SELECT 'erased', to_jsonb(erased)
        FROM letsswitch.erased WHERE erased.person = letsswitch.person_tag(p_device))
$$;
