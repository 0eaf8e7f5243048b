-- Promises for certain days of every week, made ahead.
CREATE TABLE letsswitch.series (
    id uuid PRIMARY KEY,
    device_id text NOT NULL,
    title text NOT NULL,
    -- The title from a day on for which no tasks exist yet; NULL: the same title.
    later_title text,
    later_from date,
    -- The wish: what the zone's clocks show, in seconds, on these days of the week; bit 0 is Monday.
    wall_time integer NOT NULL,
    time_zone text NOT NULL,
    days integer NOT NULL CHECK (days BETWEEN 1 AND 127),
    -- The last day; NULL: no end.
    until date,
    -- Up to this day promises are made, or were not wanted: none is made there any more.
    made_to date NOT NULL,
    -- When the next tasks are created.
    look_at timestamptz NOT NULL,
    CONSTRAINT series_later CHECK ((later_title IS NULL) = (later_from IS NULL)),
    CONSTRAINT series_once UNIQUE (device_id, wall_time, time_zone, days)
);
CREATE INDEX series_look ON letsswitch.series (look_at);

-- Which series' promise it is, and for which day; NULL when it was made, or moved, by hand.
ALTER TABLE letsswitch.task
    ADD COLUMN series_id uuid,
    ADD COLUMN series_day date;
