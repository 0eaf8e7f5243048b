-- Returns the data of a device in the schedule: its tasks, series, calendar and preferences.
CREATE FUNCTION schedule.export_device(p_device text) RETURNS TABLE (kind text, stored jsonb)
LANGUAGE sql STABLE AS $$
    (
        SELECT 'tasks', to_jsonb(task) - 'device_id' - 'invitation'
        FROM schedule.task WHERE task.device_id = p_device ORDER BY task.registered)
    UNION ALL (
        SELECT 'series', to_jsonb(series) - 'device_id'
        FROM schedule.series WHERE series.device_id = p_device ORDER BY series.created_until)
    UNION ALL (
        SELECT 'due', to_jsonb(due)
        FROM schedule.task JOIN schedule.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
        WHERE task.device_id = p_device ORDER BY due.registered)
    UNION ALL (
        SELECT 'calendar', to_jsonb(calendar) - 'device_id' - 'digest'
        FROM schedule.calendar WHERE calendar.device_id = p_device)
    UNION ALL (
        SELECT 'preferences', to_jsonb(preference) - 'device_id' - 'preferred_id'
        FROM schedule.preference WHERE preference.device_id = p_device ORDER BY preference.preferred_at)
$$;
