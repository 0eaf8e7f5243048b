-- When somebody last had to do with the schedule whose series it is.
ALTER TABLE letsswitch.series ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();

-- When somebody was last led to another room, and from which: who hears nothing for a while is told later.
ALTER TABLE letsswitch.task ADD COLUMN rematched_at timestamptz, ADD COLUMN rematched_from uuid;
CREATE INDEX task_rematched ON letsswitch.task (rematched_at) WHERE rematched_at IS NOT NULL;
