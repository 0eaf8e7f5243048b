-- When the user reported the start; NULL: not yet.
ALTER TABLE letsswitch.task ADD COLUMN began_at timestamptz;
