-- The next time that the deletion of unused names checks this user. Never before the name can be old enough to delete.
-- Only that deletion changes the column.
ALTER TABLE letsswitch.chat_user ADD COLUMN look_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX chat_user_look ON letsswitch.chat_user (look_at) WHERE name IS NOT NULL;
