-- Returns the reminders of a device for its export.
CREATE FUNCTION reminders.export_device(p_device text) RETURNS TABLE (kind text, stored jsonb)
LANGUAGE sql STABLE AS $$
    (
        SELECT 'reminders', to_jsonb(reminder)
        FROM schedule.tasks_of(p_device, '-infinity', 'infinity') AS task
        JOIN reminders.reminder ON reminder.starts_at = task.starts_at AND reminder.task_id = task.id
        ORDER BY reminder.seq)
$$;
