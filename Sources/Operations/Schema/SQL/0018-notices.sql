-- When somebody is told by the ways of reminders that the partner has changed: the last time, or the next if that is yet to come.
ALTER TABLE letsswitch.task ADD COLUMN noticed_at timestamptz;

-- Preferences that nobody needs any more go, as addresses do.
ALTER TABLE letsswitch.preference ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();
UPDATE letsswitch.preference SET used_at = preferred_at;
CREATE INDEX preference_unused ON letsswitch.preference (used_at);
