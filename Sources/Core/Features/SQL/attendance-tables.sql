-- The tables of the members of matches' rooms. The feature Matches writes them. They are part of the first migration.

-- The members of a match's room, with times. One row per task, and one for all members without a task, so that joining and
-- leaving can't fill the table. It counts the members of all daemons.
CREATE TABLE core.attendance (
    room_id uuid NOT NULL,
    -- NULL: members that gave no task of the match.
    task_id uuid,
    closes_at timestamptz NOT NULL,
    -- The first time.
    joined_at timestamptz NOT NULL,
    -- The last join or leave.
    changed_at timestamptz NOT NULL,
    -- The number of connections in the room.
    present integer NOT NULL,
    -- The last leave. NULL: the member is in the room, was in it when it closed, or its daemon died before it could report
    -- the leave.
    left_at timestamptz GENERATED ALWAYS AS (CASE WHEN present <= 0 THEN changed_at END) STORED,
    -- The number of joins.
    visits integer NOT NULL,
    -- The most members at one time on one daemon.
    most_peers integer NOT NULL,
    CONSTRAINT attendance_once UNIQUE NULLS NOT DISTINCT (room_id, task_id)
);
CREATE INDEX attendance_over ON core.attendance (closes_at);

-- The daemons' reporters of attendance with the numbers of their last reports, so that no report is written twice.
CREATE TABLE core.reporter (
    id uuid PRIMARY KEY,
    number bigint NOT NULL,
    wrote_at timestamptz NOT NULL,
    -- The last heartbeat of a daemon that the others consider dead. NULL: it is alive, or stopped in order.
    lost_at timestamptz,
    -- Whether the dead daemon's reports still have to be reverted.
    must_revert boolean NOT NULL DEFAULT false
);
CREATE INDEX reporter_open ON core.reporter (lost_at) WHERE must_revert;

-- The members that each daemon has reported. When a daemon dies, its reports are reverted by these rows.
CREATE TABLE core.presence (
    -- The id of the daemon in core.reporter and core.daemon.
    reporter_id uuid NOT NULL,
    room_id uuid NOT NULL,
    -- As in core.attendance.
    task_id uuid,
    -- At least 1.
    connections integer NOT NULL,
    CONSTRAINT presence_once UNIQUE NULLS NOT DISTINCT (reporter_id, room_id, task_id)
);
CREATE INDEX presence_room ON core.presence (room_id);
