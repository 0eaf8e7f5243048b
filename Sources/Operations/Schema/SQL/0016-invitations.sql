-- Invited guests, and preferred partners.
ALTER TABLE letsswitch.task
    -- The digest of the token that makes its bearer the partner; NULL: nobody was invited.
    ADD COLUMN invitation bytea,
    -- Until then the task waits for the guest alone; NULL: for anybody.
    ADD COLUMN invites_until timestamptz,
    -- The task of the one who came; it may be gone.
    ADD COLUMN guest_id uuid;
CREATE UNIQUE INDEX task_invitation ON letsswitch.task (invitation) WHERE invitation IS NOT NULL;
CREATE INDEX task_inviting ON letsswitch.task (invites_until) WHERE invites_until IS NOT NULL;
-- Matching doesn't visit tasks that wait for guests, however many there are.
DROP INDEX letsswitch.task_single;
CREATE INDEX task_single ON letsswitch.task (starts_at, reminds_at) WHERE partner_id IS NULL AND invites_until IS NULL;

-- By which tasks get the tokens of their invitations.
INSERT INTO letsswitch.secret (name, value)
VALUES ('invitations', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- Former partners whom a device would like to have again. The other user isn't notified.
CREATE TABLE letsswitch.preference (
    id uuid PRIMARY KEY,
    device_id text NOT NULL,
    preferred_id text NOT NULL,
    -- The other's task when they were partners, as the list shows it.
    title text NOT NULL,
    starts_at timestamptz NOT NULL,
    preferred_at timestamptz NOT NULL,
    CONSTRAINT preference_pair UNIQUE (device_id, preferred_id)
);
CREATE INDEX preference_preferred ON letsswitch.preference (preferred_id, device_id);
CREATE INDEX preference_list ON letsswitch.preference (device_id, preferred_at, id);
