-- The tables of questions: sessions, questions, votes and announcements. They are part of the first migration.

-- A question session with its presenter and its audience.
CREATE TABLE questions.question_session (
    id uuid PRIMARY KEY,
    -- The device that created it. NULL: no device, or it was erased.
    device_id text,
    title text NOT NULL,
    -- Whether others see a question only after it is approved.
    is_moderated boolean NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'closed')),
    -- SHA-256 of the presenter's key, in hexadecimal digits. NULL: everybody has the presenter's rights.
    key_digest text,
    -- Counts the session's changes. It is incremented under the row's lock, so changes are numbered in the order of their
    -- commits. A client that missed some resumes after the last version it received.
    version bigint NOT NULL DEFAULT 0,
    -- The version of the last announcement.
    announced bigint NOT NULL DEFAULT 0,
    -- The number of the session's questions that aren't dismissed.
    question_count integer NOT NULL DEFAULT 0,
    -- When the session last changed, to about an hour. Most updates therefore write to no index.
    used_at timestamptz NOT NULL
)
WITH (fillfactor = 50);
CREATE INDEX question_session_device ON questions.question_session (device_id) WHERE device_id IS NOT NULL;
CREATE INDEX question_session_unused ON questions.question_session (used_at);

--   pending ──▶ approved ──▶ dismissed      from each state to each other; `answered` is independent of it
CREATE TABLE questions.question (
    id uuid PRIMARY KEY,
    session_id uuid NOT NULL,
    -- The session's version when the question was asked, which gives the order of the questions.
    number bigint NOT NULL,
    -- NULL: the author was erased.
    content text,
    answered boolean NOT NULL DEFAULT false,
    answer text,
    state text NOT NULL CHECK (state IN ('pending', 'approved', 'dismissed')),
    votes integer NOT NULL DEFAULT 0,
    -- The session's id for the author: derived from the device, or from the connection if it gave no device.
    asked_from uuid NOT NULL,
    -- NULL if the connection gave no device id, or the device was erased.
    device_id text,
    created_at timestamptz NOT NULL,
    -- The session's versions of the question's last change, its last change other than votes, and its answer.
    version bigint NOT NULL,
    changed bigint NOT NULL DEFAULT 0,
    answered_in bigint,
    CONSTRAINT question_order UNIQUE (session_id, number)
);
CREATE INDEX question_changed ON questions.question (session_id, version);
CREATE INDEX question_asker ON questions.question (session_id, asked_from, created_at);
CREATE INDEX question_device ON questions.question (device_id, session_id) WHERE device_id IS NOT NULL;
CREATE INDEX question_past ON questions.question (created_at);

CREATE TABLE questions.question_vote (
    question_id uuid NOT NULL,
    -- Like question.asked_from, for a device.
    voter uuid NOT NULL,
    PRIMARY KEY (question_id, voter)
);

-- Messages that a presenter has sent to connections. They are kept for an hour, for daemons that had lost the database.
CREATE TABLE questions.announcement (
    session_id uuid NOT NULL,
    version bigint NOT NULL,
    content text NOT NULL,
    recipients text NOT NULL CHECK (recipients IN ('all', 'ids', 'allBut')),
    -- Empty for all.
    ids uuid[] NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (session_id, version)
);
CREATE INDEX announcement_past ON questions.announcement (made_at);
