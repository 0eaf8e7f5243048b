-- Who is in a match's room.

-- Whether somebody in the room didn't name a task, as the published app doesn't. Such a member can't be moved to
-- another room.
CREATE FUNCTION core.has_unnamed_members(p_room uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM core.attendance
        WHERE attendance.room_id = p_room AND attendance.task_id IS NULL AND attendance.present > 0)
$$;
