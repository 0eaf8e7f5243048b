-- The secrets that daemons share.

-- Returns the secret of this name. If it doesn't exist, stores p_value and returns the stored value.
CREATE FUNCTION core.ensure_secret(p_name text, p_value bytea) RETURNS bytea
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO core.secret (name, value) VALUES (p_name, p_value) ON CONFLICT (name) DO NOTHING;
    -- A separate statement, because it sees the value that another daemon may have committed in the meantime.
    RETURN (SELECT secret.value FROM core.secret WHERE secret.name = p_name);
END
$$;

-- Returns the tag that replaces a device's id where the id must not be shown. A device has the same tag as long as the
-- database exists. The id can't be computed from the tag.
CREATE FUNCTION core.person_tag(p_device text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT encode(substr(sha256(secret.value || convert_to(p_device, 'UTF8')), 1, 16), 'hex')
    FROM core.secret WHERE secret.name = 'person'
$$;
