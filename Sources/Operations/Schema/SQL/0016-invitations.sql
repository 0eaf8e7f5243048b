-- With whom: somebody who was invited, or whom one had and liked.
ALTER TABLE letsswitch.task
    -- The digest of the token by which somebody may become the partner; NULL: nobody was invited.
    ADD COLUMN invitation bytea,
    -- Until then it waits for that one alone; NULL: for anybody.
    ADD COLUMN invites_until timestamptz,
    -- The task of the one who came; it may be gone.
    ADD COLUMN guest_id uuid;
CREATE UNIQUE INDEX task_invitation ON letsswitch.task (invitation) WHERE invitation IS NOT NULL;
CREATE INDEX task_inviting ON letsswitch.task (invites_until) WHERE invites_until IS NOT NULL;
-- However many wait for guests, nobody who looks for a partner goes through them.
DROP INDEX letsswitch.task_single;
CREATE INDEX task_single ON letsswitch.task (starts_at, reminds_at) WHERE partner_id IS NULL AND invites_until IS NULL;

-- By which tasks get the tokens of their invitations.
INSERT INTO letsswitch.secret (name, value)
VALUES ('invitations', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- Whom a device would like to have for a partner again. Its own affair: the other isn't told.
CREATE TABLE letsswitch.preference (
    id uuid PRIMARY KEY,
    device_id text NOT NULL,
    preferred_id text NOT NULL,
    -- What the other had promised when they were partners, which is what the list shows.
    title text NOT NULL,
    starts_at timestamptz NOT NULL,
    preferred_at timestamptz NOT NULL,
    CONSTRAINT preference_pair UNIQUE (device_id, preferred_id)
);
CREATE INDEX preference_preferred ON letsswitch.preference (preferred_id, device_id);
CREATE INDEX preference_list ON letsswitch.preference (device_id, preferred_at, id);
