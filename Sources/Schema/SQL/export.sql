-- What is kept of a person, for the person.

-- All that is stored of a device, one object: a member for each kind, rows as they stand in the tables. Of others it holds no name of a
-- device; of the device no key by which one could act for it elsewhere. Votes are stored under a name that only a session knows: those
-- are found of sessions in which the device has asked.
CREATE FUNCTION letsswitch.export_device(p_device text) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'deviceId', p_device,
        'exportedAt', letsswitch.clock(),
        'tasks', (
            SELECT jsonb_agg(to_jsonb(task) - 'device_id' ORDER BY task.registered)
            FROM letsswitch.task WHERE task.device_id = p_device),
        'series', (
            SELECT jsonb_agg(to_jsonb(series) - 'device_id' ORDER BY series.made_to)
            FROM letsswitch.series WHERE series.device_id = p_device),
        'due', (
            SELECT jsonb_agg(to_jsonb(due) ORDER BY due.registered)
            FROM letsswitch.task JOIN letsswitch.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
            WHERE task.device_id = p_device),
        'reminders', (
            SELECT jsonb_agg(to_jsonb(reminder) ORDER BY reminder.seq)
            FROM letsswitch.task
            JOIN letsswitch.reminder ON reminder.starts_at = task.starts_at AND reminder.task_id = task.id
            WHERE task.device_id = p_device),
        'attendance', (
            SELECT jsonb_agg(to_jsonb(attendance) ORDER BY attendance.came_at)
            FROM letsswitch.task
            JOIN letsswitch.attendance ON attendance.room_id = task.room_id AND attendance.task_id = task.id
            WHERE task.device_id = p_device),
        'presence', (
            SELECT jsonb_agg(to_jsonb(presence) - 'reporter_id')
            FROM letsswitch.task
            JOIN letsswitch.presence ON presence.room_id = task.room_id AND presence.task_id = task.id
            WHERE task.device_id = p_device),
        'addresses', (
            SELECT jsonb_agg(to_jsonb(address) - 'device_id' ORDER BY address.id)
            FROM letsswitch.address WHERE address.device_id = p_device),
        'calendar', (
            SELECT to_jsonb(calendar) - 'device_id' - 'digest' FROM letsswitch.calendar WHERE calendar.device_id = p_device),
        'events', (
            SELECT jsonb_agg(to_jsonb(event) ORDER BY event.id)
            FROM letsswitch.event WHERE event.person = letsswitch.person_tag(p_device) AND event.title IS NOT NULL),
        'sessions', (
            SELECT jsonb_agg(to_jsonb(session) - 'device_id' - 'key_digest')
            FROM letsswitch.question_session AS session WHERE session.device_id = p_device),
        'announcements', (
            SELECT jsonb_agg(to_jsonb(announcement) ORDER BY announcement.made_at)
            FROM letsswitch.question_session AS session
            JOIN letsswitch.announcement ON announcement.session_id = session.id WHERE session.device_id = p_device),
        'questions', (
            SELECT jsonb_agg(to_jsonb(question) - 'device_id' ORDER BY question.created_at)
            FROM letsswitch.question WHERE question.device_id = p_device),
        'votes', (
            SELECT jsonb_agg(DISTINCT vote.question_id)
            FROM letsswitch.question AS asked
            JOIN letsswitch.question AS voted ON voted.session_id = asked.session_id
            JOIN letsswitch.question_vote AS vote ON vote.question_id = voted.id AND vote.voter = asked.asked_from
            WHERE asked.device_id = p_device),
        'names', (
            SELECT jsonb_agg(to_jsonb(own) - 'device_id' ORDER BY own.id)
            FROM letsswitch.chat_user AS own WHERE own.device_id = p_device),
        'conversations', (
            SELECT jsonb_agg(to_jsonb(conversation) - 'look_at' || (to_jsonb(participant) - 'conversation_id' - 'user_id'))
            FROM letsswitch.chat_user AS own
            JOIN letsswitch.participant ON participant.user_id = own.id
            JOIN letsswitch.conversation ON conversation.id = participant.conversation_id
            WHERE own.device_id = p_device),
        'messages', (
            SELECT jsonb_agg(to_jsonb(message) - 'author_id' ORDER BY message.sent_at)
            FROM letsswitch.chat_user AS own JOIN letsswitch.message ON message.author_id = own.id
            WHERE own.device_id = p_device),
        'blocks', (
            SELECT jsonb_agg(to_jsonb(block) - 'device_id' - 'blocked_id' ORDER BY block.blocked_at)
            FROM letsswitch.block WHERE block.device_id = p_device),
        'erasure', (SELECT to_jsonb(erasure) - 'device_id' FROM letsswitch.erasure WHERE erasure.device_id = p_device),
        'erased', (
            SELECT to_jsonb(erased) FROM letsswitch.erased WHERE erased.person = letsswitch.person_tag(p_device))
    )
$$;
