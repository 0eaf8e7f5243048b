-- When the user is notified of a changed partner by a provider: the last time, or the next if that is in the future.
ALTER TABLE letsswitch.task ADD COLUMN noticed_at timestamptz;

-- Unused preferences are deleted like addresses.
ALTER TABLE letsswitch.preference ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();
UPDATE letsswitch.preference SET used_at = preferred_at;
CREATE INDEX preference_unused ON letsswitch.preference (used_at);
