-- The tables of the members of matches' rooms. They are part of the first migration. The feature Matches writes them.

-- The attendance of a match's room, counted over all daemons. A room has one row per task, and one row for all members
-- that named no task of the match. Repeated joins and leaves therefore don't add rows.
CREATE TABLE core.attendance (
    room_id uuid NOT NULL,
    -- NULL: the row of the members that named no task of the match.
    task_id uuid,
    closes_at timestamptz NOT NULL,
    -- The first join.
    joined_at timestamptz NOT NULL,
    -- The last join or leave.
    changed_at timestamptz NOT NULL,
    -- The number of connections in the room.
    present integer NOT NULL,
    -- The last leave, if no connection is in the room. NULL: a connection is in the room, was in it when the room
    -- closed, or its daemon died before it could report the leave.
    left_at timestamptz GENERATED ALWAYS AS (CASE WHEN present <= 0 THEN changed_at END) STORED,
    -- The number of joins.
    visits integer NOT NULL,
    -- The largest number of members that one daemon has had in the room at one time.
    most_peers integer NOT NULL,
    CONSTRAINT attendance_once UNIQUE NULLS NOT DISTINCT (room_id, task_id)
);
CREATE INDEX attendance_over ON core.attendance (closes_at);

-- The daemons that report attendance, each with the number of its last report. A report that is sent twice is written
-- once.
CREATE TABLE core.reporter (
    id uuid PRIMARY KEY,
    number bigint NOT NULL,
    wrote_at timestamptz NOT NULL,
    -- The last heartbeat of a daemon that the other daemons consider dead. NULL: the daemon is alive, or has stopped
    -- normally.
    lost_at timestamptz,
    -- Whether the members of the dead daemon still have to be removed from core.attendance.
    must_revert boolean NOT NULL DEFAULT false
);
CREATE INDEX reporter_open ON core.reporter (lost_at) WHERE must_revert;

-- The connections that each daemon has reported. When a daemon dies, these rows say what to subtract from
-- core.attendance.
CREATE TABLE core.presence (
    -- The id of the daemon in core.reporter and core.daemon.
    reporter_id uuid NOT NULL,
    room_id uuid NOT NULL,
    -- NULL: members that named no task of the match.
    task_id uuid,
    -- At least 1.
    connections integer NOT NULL,
    CONSTRAINT presence_once UNIQUE NULLS NOT DISTINCT (reporter_id, room_id, task_id)
);
CREATE INDEX presence_room ON core.presence (room_id);
