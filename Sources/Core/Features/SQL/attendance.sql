-- The members of a match's room.

-- Whether a member of the room named no task. Clients of the published app don't name one. Such a member can't be moved
-- to another room.
CREATE FUNCTION core.has_unnamed_members(p_room uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM core.attendance
        WHERE attendance.room_id = p_room AND attendance.task_id IS NULL AND attendance.present > 0)
$$;
