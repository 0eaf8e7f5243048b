-- The tables of questions: sessions, questions, votes and announcements. They are part of the first migration.

-- A question session with its presenter and its audience.
CREATE TABLE questions.question_session (
    id uuid PRIMARY KEY,
    -- The device that created the session. NULL: no device did, or the device was erased.
    device_id text,
    title text NOT NULL,
    -- Whether a presenter must approve a question before other clients see it.
    is_moderated boolean NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'closed')),
    -- SHA-256 of the presenter's key, in hexadecimal digits. NULL: every client has the presenter's rights.
    key_digest text,
    -- The number of the session's changes. It is incremented while the row is locked, so changes are numbered in the
    -- order of their commits. A client that missed changes resumes after the last version it received.
    version bigint NOT NULL DEFAULT 0,
    -- The version of the last announcement.
    announced bigint NOT NULL DEFAULT 0,
    -- The number of the session's questions that aren't dismissed.
    question_count integer NOT NULL DEFAULT 0,
    -- When the session last changed, to about an hour. Because of this, most updates write to no index.
    used_at timestamptz NOT NULL
)
WITH (fillfactor = 50);
CREATE INDEX question_session_device ON questions.question_session (device_id) WHERE device_id IS NOT NULL;
CREATE INDEX question_session_unused ON questions.question_session (used_at);

-- A question of a session. Its state can change from each value to each other one. `answered` is independent of the
-- state.
--
--   pending ──▶ approved ──▶ dismissed
CREATE TABLE questions.question (
    id uuid PRIMARY KEY,
    session_id uuid NOT NULL REFERENCES questions.question_session ON DELETE CASCADE,
    -- The session's version when the question was asked. It gives the order of the questions.
    number bigint NOT NULL,
    -- NULL: the author was erased.
    content text,
    answered boolean NOT NULL DEFAULT false,
    answer text,
    state text NOT NULL CHECK (state IN ('pending', 'approved', 'dismissed')),
    votes integer NOT NULL DEFAULT 0,
    -- The author's id in this session. It is derived from the device; for a connection without a device id, from the
    -- connection.
    asked_from uuid NOT NULL,
    -- NULL: the connection gave no device id, or the device was erased.
    device_id text,
    created_at timestamptz NOT NULL,
    -- The session's version at the question's last change, at its last change other than votes, and when it was
    -- answered.
    version bigint NOT NULL,
    changed bigint NOT NULL DEFAULT 0,
    answered_in bigint,
    CONSTRAINT question_order UNIQUE (session_id, number)
);
CREATE INDEX question_changed ON questions.question (session_id, version);
CREATE INDEX question_asker ON questions.question (session_id, asked_from, created_at);
CREATE INDEX question_device ON questions.question (device_id, session_id) WHERE device_id IS NOT NULL;
CREATE INDEX question_past ON questions.question (created_at);

-- The votes for questions. A voter has at most one vote per question.
CREATE TABLE questions.question_vote (
    question_id uuid NOT NULL REFERENCES questions.question ON DELETE CASCADE,
    -- The voting device's id in this session, derived like question.asked_from.
    voter uuid NOT NULL,
    PRIMARY KEY (question_id, voter)
);

-- Messages that a presenter has sent to connections. They are kept for an hour, so that a daemon that had lost its
-- connection to the database can read them.
CREATE TABLE questions.announcement (
    session_id uuid NOT NULL REFERENCES questions.question_session ON DELETE CASCADE,
    version bigint NOT NULL,
    content text NOT NULL,
    recipients text NOT NULL CHECK (recipients IN ('all', 'ids', 'allBut')),
    -- Empty if the recipients are 'all'.
    ids uuid[] NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (session_id, version)
);
CREATE INDEX announcement_past ON questions.announcement (made_at);
