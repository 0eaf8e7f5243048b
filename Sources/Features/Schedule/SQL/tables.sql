-- The tables of the schedule: tasks, series, preferred partners and calendars. They are part of the first migration.

-- What a device has promised to start at a time.
--
--   registered ──(another device, same slot)──▶ paired
--       │                                         │
--       └──────────────▶ claimed ◀────────────────┘     at reminds_at; afterwards only a late partner can join
--
-- Two tasks that are paired are a match. Both have the id of its room.
CREATE TABLE schedule.task (
    id uuid PRIMARY KEY,
    -- The order of registration. Users are matched in this order.
    registered bigint GENERATED ALWAYS AS IDENTITY,
    -- NULL, like the title, if the device was erased. The row then remains only until the match is over.
    device_id text,
    title text,
    starts_at timestamptz NOT NULL,
    -- Set at registration. A later change of the lead doesn't affect it.
    reminds_at timestamptz NOT NULL,
    -- The request as it was made: the zone, and the time on the wall clock (HH:MM, or HH:MM:SS).
    time_zone text NOT NULL,
    start_time text NOT NULL,
    -- The match's room. Before the match, the id that the room would get.
    room_id uuid NOT NULL,
    -- When the room closes. Both tasks of a match have the same time. The room opens when either task is claimed.
    closes_at timestamptz NOT NULL,
    -- The partner's task. No foreign key, because the partner's row may be erased when the match is over.
    partner_id uuid,
    -- Whether the task was in a match that was dissolved: the partner cancelled, moved its task, or didn't join.
    was_dissolved boolean NOT NULL DEFAULT false,
    -- Whether the user wasn't in the room when the partner was matched again. The user gets no partner until joining.
    is_absent boolean NOT NULL DEFAULT false,
    -- Until this time another user may still become the partner in an open room. Without a partner: the partner left after
    -- the lead. With a partner: the partner hasn't joined. NULL: the task waits before its lead, or the partner is there.
    waits_until timestamptz,
    -- When the match was made, if it was made late. The user then gets the usual time to join. NULL: matched by
    -- registering in time.
    paired_at timestamptz,
    -- When the user is notified of a changed partner by a provider: the last time, or the next if it is in the future.
    notified_at timestamptz,
    -- When the task was last moved to another room, and from which one. A client without a connection at that time is
    -- notified later.
    rematched_at timestamptz,
    rematched_from uuid,
    -- When the user reported the start. NULL: not yet.
    began_at timestamptz,
    -- The partner's task whose user this user has asked for a conversation. NULL: not asked.
    asked_id uuid,
    -- The series that created the task, and the day. NULL for a task that was registered or moved by hand.
    series_id uuid,
    series_day date,
    -- The digest of the token that makes its holder the partner. NULL: nobody is invited.
    invitation bytea,
    -- Until this time the task waits only for the invited guest. NULL: the task waits for any partner.
    invites_until timestamptz,
    -- The task of the guest who accepted. It may be deleted.
    guest_id uuid,
    CONSTRAINT task_slot UNIQUE (device_id, starts_at),
    CONSTRAINT task_erased CHECK ((device_id IS NULL) = (title IS NULL)),
    CONSTRAINT task_erased_unpaired CHECK (device_id IS NOT NULL OR partner_id IS NOT NULL)
);

-- Finds the zone of a device's latest task, and a device's tasks at its erasure. It indexes an expression, so that only
-- queries with that expression use it. Otherwise the planner, which expects one task per device, would use any index that
-- begins with the device for a single slot, and read this one through.
CREATE INDEX task_latest ON schedule.task ((device_id || ''), registered);
CREATE INDEX task_room ON schedule.task (room_id);

-- Tasks without a partner. Tasks that wait for guests are left out, so matching doesn't visit them.
CREATE INDEX task_single ON schedule.task (starts_at, reminds_at) WHERE partner_id IS NULL AND invites_until IS NULL;
CREATE INDEX task_anonymous ON schedule.task (starts_at) WHERE device_id IS NULL;

-- Tasks whose partner hasn't joined.
CREATE INDEX task_absent_partner ON schedule.task (starts_at) WHERE waits_until IS NOT NULL AND partner_id IS NOT NULL;
CREATE INDEX task_rematched ON schedule.task (rematched_at) WHERE rematched_at IS NOT NULL;
CREATE UNIQUE INDEX task_invitation ON schedule.task (invitation) WHERE invitation IS NOT NULL;
CREATE INDEX task_inviting ON schedule.task (invites_until) WHERE invites_until IS NOT NULL;

-- Finds the next lead among many lapsed invitations.
CREATE INDEX task_lapsing ON schedule.task (reminds_at, invites_until) WHERE invites_until IS NOT NULL;

-- The key of the tokens of invitations. A task's token is computed from it and the task.
INSERT INTO core.secret (name, value)
VALUES ('invitations', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- Series: tasks on certain days of every week. The tasks are created some days ahead.
CREATE TABLE schedule.series (
    id uuid PRIMARY KEY,
    device_id text NOT NULL,
    title text NOT NULL,
    -- The title from a day on for which no tasks exist yet. NULL: no other title.
    later_title text,
    later_from date,
    -- The request: seconds on the zone's wall clock, and the days of the week. Bit 0 is Monday.
    wall_time integer NOT NULL,
    time_zone text NOT NULL,
    days integer NOT NULL CHECK (days BETWEEN 1 AND 127),
    -- The last day. NULL: no end.
    until date,
    -- The last day that was handled: its task was created, or skipped. No more tasks are created up to this day.
    created_until date NOT NULL,
    -- When the next tasks are created.
    next_check_at timestamptz NOT NULL,
    -- When the series' user last used the schedule.
    used_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT series_later CHECK ((later_title IS NULL) = (later_from IS NULL)),
    CONSTRAINT series_once UNIQUE (device_id, wall_time, time_zone, days)
);
CREATE INDEX series_check ON schedule.series (next_check_at);

-- Former partners whom a device would like to have again. The other user isn't notified.
CREATE TABLE schedule.preference (
    id uuid PRIMARY KEY,
    device_id text NOT NULL,
    preferred_id text NOT NULL,
    -- The other user's task in their match. The list shows it.
    title text NOT NULL,
    starts_at timestamptz NOT NULL,
    preferred_at timestamptz NOT NULL,
    -- When the device last used the schedule, to about a day. Unused preferences are deleted like addresses.
    used_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT preference_pair UNIQUE (device_id, preferred_id)
);
CREATE INDEX preference_preferred ON schedule.preference (preferred_id, device_id);
CREATE INDEX preference_list ON schedule.preference (device_id, preferred_at, id);
CREATE INDEX preference_unused ON schedule.preference (used_at);

-- Feeds of a device's tasks for calendar programs.
CREATE TABLE schedule.calendar (
    device_id text PRIMARY KEY,
    -- The end of the feed's address. It gives access to titles and times only. It isn't hashed, because the device id
    -- beside it gives access to more.
    secret text NOT NULL CONSTRAINT calendar_secret UNIQUE,
    -- The digest of the tasks when they were last read, the number of this state, and when it began.
    digest text,
    revision integer NOT NULL DEFAULT 0,
    revised_at timestamptz NOT NULL,
    -- When the feed was last requested or read, or its device registered a task, to about a day.
    used_at timestamptz NOT NULL
);
CREATE INDEX calendar_unused ON schedule.calendar (used_at);

-- The tasks that the scheduler will claim, one row per unclaimed task. A claim deletes the row, which writes to no index.
-- Marking the task instead would write to each index of the task. The row's lock is the task's lock: transactions that
-- match, rename, cancel, erase or claim a task lock the row, and then read the task again.
CREATE TABLE schedule.due (
    reminds_at timestamptz NOT NULL,
    registered bigint NOT NULL,
    task_id uuid NOT NULL,
    -- Copies of the task's columns, so that the claim needn't read the task.
    starts_at timestamptz NOT NULL,
    closes_at timestamptz NOT NULL,
    -- The number of failed claims of this task alone. A task that can't be claimed must not delay the others. It is tried
    -- again after 1, 2, 4, … 64 seconds, and at its start, when it is missed. From then on it is tried once a day, until
    -- the cause is fixed.
    failures integer,
    -- NULL: no claim has failed.
    retry_at timestamptz,
    PRIMARY KEY (reminds_at, registered)
);
CREATE INDEX due_retry ON schedule.due (retry_at) WHERE retry_at IS NOT NULL;
