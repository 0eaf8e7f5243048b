-- What each daemon has reported about members of matches' rooms, so that it can be reverted when the daemon dies. The
-- table attendance counts the members of all daemons together.
CREATE TABLE letsswitch.presence (
    -- The daemon, as letsswitch.reporter and letsswitch.daemon have it.
    reporter_id uuid NOT NULL,
    room_id uuid NOT NULL,
    -- As in letsswitch.attendance.
    task_id uuid,
    -- More than none.
    connections integer NOT NULL,
    CONSTRAINT presence_once UNIQUE NULLS NOT DISTINCT (reporter_id, room_id, task_id)
);
CREATE INDEX presence_room ON letsswitch.presence (room_id);

-- The last heartbeat of a daemon that was given up, and whether what it had told is still to be taken back.
ALTER TABLE letsswitch.reporter ADD COLUMN gone_at timestamptz, ADD COLUMN must_close boolean NOT NULL DEFAULT false;
CREATE INDEX reporter_open ON letsswitch.reporter (gone_at) WHERE must_close;
