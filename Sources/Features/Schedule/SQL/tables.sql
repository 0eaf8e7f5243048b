-- The tables of the schedule: tasks, series, preferred partners and calendars. They are part of the first migration.

-- A task that a device has promised to start at a time.
--
--   registered ──(another device, same slot)──▶ matched
--       │                                         │
--       └──────────────▶ claimed ◀────────────────┘     at reminds_at; after that only a late partner can join
--
-- Two tasks that name each other as partner are a match. Both have the id of its room.
CREATE TABLE schedule.task (
    id uuid PRIMARY KEY,
    -- The order of registration. Users are matched in this order.
    registered bigint GENERATED ALWAYS AS IDENTITY,
    -- NULL, like the title: the device was erased. The row then remains only until the match is over.
    device_id text,
    title text,
    starts_at timestamptz NOT NULL,
    -- When the reminder is due. It is set at registration, and a later change of the lead doesn't affect it.
    reminds_at timestamptz NOT NULL,
    -- The time as it was requested: the zone, and the time on its wall clock (HH:MM, or HH:MM:SS).
    time_zone text NOT NULL,
    start_time text NOT NULL,
    -- The match's room. For a task without a partner: the id that the room of a match would get.
    room_id uuid NOT NULL,
    -- When the room closes. Both tasks of a match have the same time. The room opens when either task is claimed.
    closes_at timestamptz NOT NULL,
    -- The partner's task. It has no foreign key, because the partner's row may be deleted when the match is over.
    partner_id uuid,
    -- Whether the task was in a match that was dissolved because the partner cancelled, moved its task, or didn't join.
    was_dissolved boolean NOT NULL DEFAULT false,
    -- Whether the user was absent when the partner was matched with another task. The task gets no partner until the
    -- user joins the room.
    is_absent boolean NOT NULL DEFAULT false,
    -- The end of the time in which a late task may become the partner. Set if the task lost its partner after the
    -- reminder was due, or if the user was alone in the room after the start and no other task was waiting. NULL in all
    -- other cases.
    waits_until timestamptz,
    -- When the match was made, if registering in time didn't make it. The user then gets the usual time to join,
    -- counted from here. NULL: the match was made when one of the two tasks was registered in time.
    paired_at timestamptz,
    -- When providers notify the user that the partner has changed. A time in the future is that of the next
    -- notification, a time in the past that of the last one. NULL: no such notification.
    notified_at timestamptz,
    -- When the task was last moved to another room, and the id of the room before. A client that had no connection at
    -- that time receives the notification later.
    rematched_at timestamptz,
    rematched_from uuid,
    -- When the user reported that the task has begun. NULL: not yet.
    began_at timestamptz,
    -- The partner's task at the time when this user asked for a conversation with the partner. NULL: the user hasn't
    -- asked.
    asked_id uuid,
    -- The series that created the task, and the day in the series. NULL: the task was registered, renamed or moved by
    -- hand.
    series_id uuid,
    series_day date,
    -- The digest of the token with which a guest becomes the partner. NULL: there is no invitation.
    invitation bytea,
    -- Until this time the task waits for the invited guest only. NULL: the task waits for any partner.
    invites_until timestamptz,
    -- The task of the guest who accepted the invitation. It may be deleted.
    guest_id uuid,
    CONSTRAINT task_slot UNIQUE (device_id, starts_at),
    CONSTRAINT task_erased CHECK ((device_id IS NULL) = (title IS NULL)),
    CONSTRAINT task_erased_unpaired CHECK (device_id IS NOT NULL OR partner_id IS NOT NULL)
);

-- Finds the zone of a device's latest task, and the tasks of a device that is being erased. The index has an
-- expression, so that only queries with the same expression use it. The planner expects one task per device. With a
-- plain column it would also use this index to find one slot of a device, and then read all of the device's tasks.
CREATE INDEX task_latest ON schedule.task ((device_id || ''), registered);
CREATE INDEX task_room ON schedule.task (room_id);

-- Finds tasks without a partner. Tasks that wait for a guest aren't in the index, so matching doesn't read them.
CREATE INDEX task_single ON schedule.task (starts_at, reminds_at) WHERE partner_id IS NULL AND invites_until IS NULL;
CREATE INDEX task_anonymous ON schedule.task (starts_at) WHERE device_id IS NULL;

-- Finds tasks whose partner hasn't joined.
CREATE INDEX task_absent_partner ON schedule.task (starts_at) WHERE waits_until IS NOT NULL AND partner_id IS NOT NULL;
CREATE INDEX task_rematched ON schedule.task (rematched_at) WHERE rematched_at IS NOT NULL;
CREATE UNIQUE INDEX task_invitation ON schedule.task (invitation) WHERE invitation IS NOT NULL;
CREATE INDEX task_inviting ON schedule.task (invites_until) WHERE invites_until IS NOT NULL;

-- Finds the lapsed invitation with the next lead among many lapsed invitations.
CREATE INDEX task_lapsing ON schedule.task (reminds_at, invites_until) WHERE invites_until IS NOT NULL;

-- The key for the tokens of invitations. A token is computed from this key and the id of the task.
INSERT INTO core.secret (name, value)
VALUES ('invitations', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- Series: tasks on certain days of every week. The tasks are created some days ahead.
CREATE TABLE schedule.series (
    id uuid PRIMARY KEY,
    device_id text NOT NULL,
    title text NOT NULL,
    -- The title for tasks from a later day on, for which no tasks exist yet. NULL: the title doesn't change.
    later_title text,
    later_from date,
    -- The time as it was requested: seconds since midnight on the zone's wall clock, and the days of the week. Bit 0 is
    -- Monday.
    wall_time integer NOT NULL,
    time_zone text NOT NULL,
    days integer NOT NULL CHECK (days BETWEEN 1 AND 127),
    -- The last day. NULL: no end.
    until date,
    -- The last day that was handled: its task was created, or the day was skipped. No task is created for this day or
    -- earlier.
    created_until date NOT NULL,
    -- When the next tasks are created.
    next_check_at timestamptz NOT NULL,
    -- When the series' user last used the schedule.
    used_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT series_later CHECK ((later_title IS NULL) = (later_from IS NULL)),
    CONSTRAINT series_once UNIQUE (device_id, wall_time, time_zone, days)
);
CREATE INDEX series_check ON schedule.series (next_check_at);

-- Former partners whom a device would like to meet again. The preferred user isn't notified.
CREATE TABLE schedule.preference (
    id uuid PRIMARY KEY,
    device_id text NOT NULL,
    preferred_id text NOT NULL,
    -- The preferred user's task in their match. The list of preferences shows it.
    title text NOT NULL,
    starts_at timestamptz NOT NULL,
    preferred_at timestamptz NOT NULL,
    -- When the owner of the preference last used the schedule, to about a day. Unused preferences are deleted like
    -- addresses.
    used_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT preference_pair UNIQUE (device_id, preferred_id)
);
CREATE INDEX preference_preferred ON schedule.preference (preferred_id, device_id);
CREATE INDEX preference_list ON schedule.preference (device_id, preferred_at, id);
CREATE INDEX preference_unused ON schedule.preference (used_at);

-- Feeds of a device's tasks for calendar programs.
CREATE TABLE schedule.calendar (
    device_id text PRIMARY KEY,
    -- The last part of the feed's address. It gives access to titles and times only. It is stored as it is, without a
    -- hash, because the device id in the same row gives access to more.
    secret text NOT NULL CONSTRAINT calendar_secret UNIQUE,
    -- The digest of the tasks when the feed was last read, the number of this state, and the time from which it exists.
    digest text,
    revision integer NOT NULL DEFAULT 0,
    revised_at timestamptz NOT NULL,
    -- When the feed was last requested or read, or its device last used the schedule, to about a day.
    used_at timestamptz NOT NULL
);
CREATE INDEX calendar_unused ON schedule.calendar (used_at);

-- The tasks that the scheduler will claim: one row per unclaimed task. A claim deletes the row, which writes to no
-- index. Marking the task as claimed instead would write to each index of the table of tasks. The lock of this row is
-- the lock of the task: transactions that match, rename, cancel, erase or claim a task lock the row, and then read the
-- task again.
CREATE TABLE schedule.due (
    reminds_at timestamptz NOT NULL,
    registered bigint NOT NULL,
    task_id uuid NOT NULL,
    -- Copies of the task's columns, so that a claim doesn't read the task.
    starts_at timestamptz NOT NULL,
    closes_at timestamptz NOT NULL,
    -- How often the claim of this task alone has failed. A task that can't be claimed must not delay other tasks. It is
    -- tried again after 1, 2, 4, … 64 seconds, and once more at its start, when it is missed. After that it is tried
    -- once a day, until the cause is fixed.
    failures integer,
    -- When the claim is tried again. NULL: no claim of the task has failed.
    retry_at timestamptz,
    PRIMARY KEY (reminds_at, registered)
);
CREATE INDEX due_retry ON schedule.due (retry_at) WHERE retry_at IS NOT NULL;
