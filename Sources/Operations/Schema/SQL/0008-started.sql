-- When its person said that it had started; NULL: hasn't said so.
ALTER TABLE letsswitch.task ADD COLUMN began_at timestamptz;
