-- The secrets that daemons share.

-- Returns the secret of this name. If there is none, stores p_value.
CREATE FUNCTION core.ensure_secret(p_name text, p_value bytea) RETURNS bytea
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO core.secret (name, value) VALUES (p_name, p_value) ON CONFLICT (name) DO NOTHING;
    -- A statement of its own, because it sees what other daemons have committed meanwhile.
    RETURN (SELECT secret.value FROM core.secret WHERE secret.name = p_name);
END
$$;

-- Replaces a device's id where it must not be shown: always the same for a device while the database exists, and not
-- reversible.
CREATE FUNCTION core.person_tag(p_device text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT encode(substr(sha256(secret.value || convert_to(p_device, 'UTF8')), 1, 16), 'hex')
    FROM core.secret WHERE secret.name = 'person'
$$;
