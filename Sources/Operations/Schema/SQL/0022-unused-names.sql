-- When the deletion of unused names looks at the user next, not before the name can be old enough. Only that deletion
-- changes it.
ALTER TABLE letsswitch.chat_user ADD COLUMN look_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX chat_user_look ON letsswitch.chat_user (look_at) WHERE name IS NOT NULL;
