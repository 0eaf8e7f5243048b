-- When the series' user last used the schedule.
ALTER TABLE letsswitch.series ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();

-- When the task was last moved to another room, and from which: a client without a connection at that time is notified
-- later.
ALTER TABLE letsswitch.task ADD COLUMN rematched_at timestamptz, ADD COLUMN rematched_from uuid;
CREATE INDEX task_rematched ON letsswitch.task (rematched_at) WHERE rematched_at IS NOT NULL;
