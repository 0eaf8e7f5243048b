-- Questions of an audience, and the answers to them.

-- A question session, with its presenter and its audience.
CREATE TABLE letsswitch.question_session (
    id uuid PRIMARY KEY,
    -- The device that created it. NULL: none, or it was erased.
    device_id text,
    title text NOT NULL,
    -- Whether a question is seen by others only once it was approved.
    is_moderated boolean NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'closed')),
    -- SHA-256 of the presenter's key, in hexadecimal digits. NULL: everybody has the presenter's rights.
    key_digest text,
    -- Counts the session's changes. Taken under the row's lock, so changes are numbered in the order of their commits,
    -- and a client that missed some reads on from the last one it knows.
    version bigint NOT NULL DEFAULT 0,
    -- The version of the last announcement.
    announced bigint NOT NULL DEFAULT 0,
    question_count integer NOT NULL DEFAULT 0,
    -- When something last happened in it, to about an hour: so the rest of it is written without touching an index.
    used_at timestamptz NOT NULL
)
WITH (fillfactor = 50);
CREATE INDEX question_session_device ON letsswitch.question_session (device_id) WHERE device_id IS NOT NULL;
CREATE INDEX question_session_unused ON letsswitch.question_session (used_at);

--   pending ──▶ approved ──▶ dismissed      each can become each; `answered` stands beside it
CREATE TABLE letsswitch.question (
    id uuid PRIMARY KEY,
    session_id uuid NOT NULL,
    -- The session's version with which it came: the order of asking.
    number bigint NOT NULL,
    -- NULL: its author was erased.
    content text,
    answered boolean NOT NULL DEFAULT false,
    answer text,
    state text NOT NULL CHECK (state IN ('pending', 'approved', 'dismissed')),
    votes integer NOT NULL DEFAULT 0,
    -- By which the session knows who asked: a connection's own, or a device's.
    asked_from uuid NOT NULL,
    -- NULL if the connection gave no device id, or the device was erased.
    device_id text,
    created_at timestamptz NOT NULL,
    -- The session's versions of its last change, and of its answer.
    version bigint NOT NULL,
    answered_in bigint,
    CONSTRAINT question_order UNIQUE (session_id, number)
);
CREATE INDEX question_changed ON letsswitch.question (session_id, version);
CREATE INDEX question_asker ON letsswitch.question (session_id, asked_from, created_at);
CREATE INDEX question_device ON letsswitch.question (device_id, session_id) WHERE device_id IS NOT NULL;
CREATE INDEX question_past ON letsswitch.question (created_at);

CREATE TABLE letsswitch.question_vote (
    question_id uuid NOT NULL,
    -- Like `question.asked_from`, for a device.
    voter uuid NOT NULL,
    PRIMARY KEY (question_id, voter)
);

-- What a presenter has sent to sockets. Kept for an hour, for daemons that had lost the database.
CREATE TABLE letsswitch.announcement (
    session_id uuid NOT NULL,
    version bigint NOT NULL,
    content text NOT NULL,
    recipients text NOT NULL CHECK (recipients IN ('all', 'ids', 'allBut')),
    -- Empty for all.
    ids uuid[] NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (session_id, version)
);
CREATE INDEX announcement_past ON letsswitch.announcement (made_at);
