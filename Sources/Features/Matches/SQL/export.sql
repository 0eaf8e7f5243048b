-- Returns the data of a device about its attendance in rooms.
CREATE FUNCTION matches.export_device(p_device text) RETURNS TABLE (kind text, stored jsonb)
LANGUAGE sql STABLE AS $$
    (
        SELECT 'attendance', to_jsonb(attendance)
        FROM schedule.tasks_of(p_device, '-infinity', 'infinity') AS task
        JOIN core.attendance ON attendance.room_id = task.room_id AND attendance.task_id = task.id
        ORDER BY attendance.joined_at)
    UNION ALL (
        SELECT 'presence', to_jsonb(presence) - 'reporter_id'
        FROM schedule.tasks_of(p_device, '-infinity', 'infinity') AS task
        JOIN core.presence ON presence.room_id = task.room_id AND presence.task_id = task.id)
$$;
