-- Promises that wait for somebody who was invited.
--
--   waits for its guest ──(accepted)──▶ in a match, whoever else waits: guest_id
--         │
--         └──(invites_until)──▶ waits as everybody does; the invitation leads there until the lead, while there is no partner
--
-- Who looks for a partner doesn't see those whose invites_until is set (task_single). As whoever changes pairs: the slot's lock, then `due`
-- rows in order (partners.sql).

-- The secret that a link bears: always the same for a task, and kept nowhere.
CREATE FUNCTION letsswitch.invitation_token(p_task uuid) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT encode(substr(sha256(secret.value || uuid_send(p_task)), 1, 16), 'hex')
    FROM letsswitch.secret WHERE secret.name = 'invitations'
$$;

CREATE FUNCTION letsswitch.invitation_digest(p_token text) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$ SELECT sha256(convert_to(p_token, 'UTF8')) $$;

-- Until when a task waits for its guest alone: p_hold seconds before the lead; if there is less time, half of it.
CREATE FUNCTION letsswitch.holds_until(p_reminds_at timestamptz, p_hold double precision, p_now timestamptz)
RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$
    SELECT p_reminds_at - least(make_interval(secs => p_hold), (p_reminds_at - p_now) / 2)
$$;

-- Has a task without a partner, which is held, wait for a guest; one that does goes on as it is, and so does one that did until now.
CREATE FUNCTION letsswitch.invite_guest(p_task letsswitch.task, p_hold double precision, p_now timestamptz)
RETURNS letsswitch.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task letsswitch.task := p_task;
BEGIN
    UPDATE letsswitch.task SET
        invitation = letsswitch.invitation_digest(letsswitch.invitation_token(task.id)),
        invites_until = letsswitch.holds_until(task.reminds_at, p_hold, p_now), guest_id = NULL
    WHERE task.id = p_task.id AND (
        task.invitation IS NULL OR task.guest_id IS NOT NULL
        OR task.invites_until IS NULL AND task.reminds_at - make_interval(secs => p_hold) > p_now)
    RETURNING * INTO v_task;
    RETURN CASE WHEN FOUND THEN v_task ELSE p_task END;
END
$$;

-- An outcome, with the invitation for its owner.
CREATE FUNCTION letsswitch.inviting_outcome(p_code text, p_task letsswitch.task, p_slot_opened boolean)
RETURNS letsswitch.task_outcome
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_outcome letsswitch.task_outcome := letsswitch.outcome(p_code, p_task, p_slot_opened);
BEGIN
    IF p_task.partner_id IS NULL AND p_task.invitation IS NOT NULL THEN
        v_outcome.invitation := letsswitch.invitation_token(p_task.id);
    END IF;
    RETURN v_outcome;
END
$$;

-- Why an invitation can't be accepted any more: no_such_invitation, invitation_used, registration_closed; NULL when it can.
CREATE FUNCTION letsswitch.invitation_problem(p_host letsswitch.task) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN p_host.id IS NULL OR p_host.device_id IS NULL
            OR p_host.registered <= letsswitch.erased_up_to(p_host.device_id) THEN 'no_such_invitation'
        WHEN p_host.partner_id IS NOT NULL OR p_host.guest_id IS NOT NULL THEN 'invitation_used'
        WHEN p_host.reminds_at < letsswitch.clock() OR NOT letsswitch.is_due(p_host) THEN 'registration_closed'
    END
$$;

-- What is promised by an invitation, for who has the link.
CREATE FUNCTION letsswitch.read_invitation(p_token text) RETURNS TABLE (
    problem text, title text, start_time text, time_zone text, starts_at bigint, reminds_at double precision
)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_host letsswitch.task;
BEGIN
    SELECT task.* INTO v_host FROM letsswitch.task WHERE task.invitation = letsswitch.invitation_digest(p_token);
    RETURN QUERY SELECT
        letsswitch.invitation_problem(v_host), v_host.title, v_host.start_time, v_host.time_zone,
        extract(epoch FROM v_host.starts_at)::bigint, extract(epoch FROM v_host.reminds_at)::double precision;
END
$$;

-- Promises the start that an invitation is for, whose host is the partner then, whoever else waits. Without a zone it is the host's. Code:
-- created; retitled (what the device had promised for that start, and had no partner, is the partner); repeated; no_such_invitation (also
-- when one of the two has blocked the other), invitation_used, own_invitation, slot_taken, registration_closed, too_many_tasks.
CREATE FUNCTION letsswitch.accept_invitation(
    p_device text, p_token text, p_title text, p_zone text,
    p_lead double precision, p_horizon double precision, p_room_duration double precision, p_most integer
) RETURNS letsswitch.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_digest bytea := letsswitch.invitation_digest(p_token);
    v_outcome letsswitch.task_outcome;
    v_host letsswitch.task;
    v_own letsswitch.task;
    v_starts_at timestamptz;
    v_was_seen boolean;
BEGIN
    -- register_task takes this lock too, which would be after the slot's.
    PERFORM letsswitch.lock_device(p_device);
    SELECT task.starts_at INTO v_starts_at FROM letsswitch.task WHERE task.invitation = v_digest;
    IF FOUND THEN
        PERFORM letsswitch.lock_slot(v_starts_at);
    END IF;
    SELECT * INTO v_host FROM letsswitch.task WHERE task.invitation = v_digest;
    IF v_host.starts_at <> v_starts_at THEN
        RAISE 'the task was moved meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    SELECT * INTO v_own FROM letsswitch.task
    WHERE task.device_id = p_device AND task.starts_at = v_starts_at
        AND task.registered > letsswitch.erased_up_to(p_device);
    IF v_own.id = v_host.id THEN
        v_outcome.code := 'own_invitation';
        RETURN v_outcome;
    ELSIF v_own.id = v_host.guest_id AND v_own.partner_id = v_host.id THEN
        RETURN letsswitch.outcome('repeated', v_own, NULL);
    END IF;
    -- Whoever claims, cancels or erases comes before or after.
    PERFORM letsswitch.lock_tasks(ARRAY[v_host.id, v_own.id]);
    SELECT * INTO v_host FROM letsswitch.task WHERE task.invitation = v_digest;
    v_outcome.code := letsswitch.invitation_problem(v_host);
    IF v_host.id IS NOT NULL AND letsswitch.is_blocked(p_device, v_host.device_id) THEN
        v_outcome.code := 'no_such_invitation';
    END IF;
    IF v_outcome.code IS NOT NULL THEN
        RETURN v_outcome;
    END IF;
    IF v_own.id IS NULL THEN
        v_outcome := letsswitch.register_task(
            p_device, p_title, coalesce(p_zone, v_host.time_zone), extract(epoch FROM v_starts_at)::bigint, NULL, NULL, NULL,
            p_lead, p_horizon, p_room_duration, p_most, p_host => v_host.id);
        IF v_host.invites_until IS NOT NULL THEN
            -- Nobody has seen that it waited.
            v_outcome.slot_opened := NULL;
        END IF;
        RETURN v_outcome;
    END IF;

    SELECT * INTO v_own FROM letsswitch.task WHERE task.id = v_own.id;
    -- Of an erased one that has a partner nothing but the match is left.
    IF v_own.id IS NULL OR v_own.device_id IS NULL OR v_own.registered <= letsswitch.erased_up_to(p_device) THEN
        RAISE 'the task was cancelled meanwhile' USING ERRCODE = 'serialization_failure';
    ELSIF v_own.partner_id IS NOT NULL THEN
        RETURN letsswitch.outcome('slot_taken', v_own, NULL);
    ELSIF v_own.reminds_at < letsswitch.clock() OR NOT letsswitch.is_due(v_own) THEN
        RETURN letsswitch.outcome('registration_closed', v_own, NULL);
    END IF;
    v_own := letsswitch.retitle_free(v_own, p_title);
    v_was_seen := v_own.invites_until IS NULL OR v_host.invites_until IS NULL;
    v_own := letsswitch.pair_free(v_own, v_host);
    UPDATE letsswitch.task SET guest_id = v_own.id WHERE task.id = v_host.id;
    RETURN letsswitch.outcome('retitled', v_own, CASE WHEN v_was_seen THEN false END);
END
$$;

-- Gives a task that is held, and has no partner, the title that it is asked for by anew. Returns it.
CREATE FUNCTION letsswitch.retitle_free(p_task letsswitch.task, p_title text) RETURNS letsswitch.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task letsswitch.task := p_task;
BEGIN
    IF p_task.title <> p_title THEN
        -- What was changed by hand is no series' any more.
        UPDATE letsswitch.task SET title = p_title, series_id = NULL, series_day = NULL
        WHERE task.id = p_task.id RETURNING * INTO v_task;
        PERFORM letsswitch.write_task_event('task.retitled', v_task);
    END IF;
    RETURN v_task;
END
$$;

-- Pairs two who wait, both held, in the room of the second, which may be open already. Returns the first.
CREATE FUNCTION letsswitch.pair_free(
    p_task letsswitch.task, p_other letsswitch.task, p_is_open boolean DEFAULT false
) RETURNS letsswitch.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task letsswitch.task;
BEGIN
    v_task := letsswitch.place_task(p_task, p_other.id, p_other.room_id, p_other.closes_at, NULL, false);
    PERFORM letsswitch.place_task(p_other, p_task.id, p_other.room_id, p_other.closes_at, NULL, false);
    PERFORM letsswitch.write_match_event(v_task, p_is_open);
    RETURN v_task;
END
$$;

-- Whose guests haven't come in time; p_limit at most. Of a backlog those come first who can still be paired before their lead, and whose
-- lead is next; nobody waits behind who failed just now. Daemons of earlier builds name neither.
CREATE FUNCTION letsswitch.lapsed_invitations(
    p_limit integer DEFAULT 100, p_failed uuid[] DEFAULT '{}'
) RETURNS TABLE (id uuid)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    -- So many are sorted, and not looked for among those whose guests have time yet.
    v_most integer := greatest(1000, p_limit);
    v_now timestamptz := letsswitch.clock();
    v_lapsed uuid[] := ARRAY(
        SELECT task.id FROM letsswitch.task
        WHERE task.invites_until <= v_now AND NOT task.id = ANY (p_failed)
        ORDER BY task.invites_until LIMIT v_most);
    v_found integer;
BEGIN
    IF cardinality(v_lapsed) < v_most THEN
        RETURN QUERY
        SELECT task.id FROM letsswitch.task WHERE task.id = ANY (v_lapsed)
        ORDER BY task.reminds_at < v_now, task.reminds_at LIMIT p_limit;
        RETURN;
    END IF;
    -- Far too many to sort: each half in the order of an index.
    RETURN QUERY
    SELECT task.id FROM letsswitch.task
    WHERE task.reminds_at >= v_now AND task.invites_until <= v_now AND NOT task.id = ANY (p_failed)
    ORDER BY task.reminds_at LIMIT p_limit;
    GET DIAGNOSTICS v_found = ROW_COUNT;
    RETURN QUERY
    SELECT task.id FROM letsswitch.task
    WHERE task.reminds_at < v_now AND task.invites_until <= v_now AND NOT task.id = ANY (p_failed)
    ORDER BY task.reminds_at LIMIT p_limit - v_found;
END
$$;

-- Such a task waits for anybody from now on; whoever waits there is the partner. Whether there was one.
CREATE FUNCTION letsswitch.free_invitation(p_task uuid) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_starts_at timestamptz := (SELECT task.starts_at FROM letsswitch.task WHERE task.id = p_task);
    v_task letsswitch.task;
    v_waiting letsswitch.task;
    v_now timestamptz;
    v_is_claimed boolean := false;
BEGIN
    IF v_starts_at IS NULL THEN
        RETURN false;
    END IF;
    PERFORM letsswitch.lock_slot(v_starts_at);
    SELECT * INTO v_task FROM letsswitch.task WHERE task.id = p_task AND task.starts_at = v_starts_at;
    v_waiting.id := letsswitch.waiting_task(v_starts_at, p_task, v_task.device_id, false);
    PERFORM letsswitch.lock_tasks(ARRAY[p_task, v_waiting.id]);
    v_now := letsswitch.clock();
    UPDATE letsswitch.task SET invites_until = NULL
    WHERE task.id = p_task AND task.starts_at = v_starts_at AND task.invites_until <= v_now RETURNING * INTO v_task;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_waiting := letsswitch.lock_chosen_task(v_waiting.id, true);
    IF v_task.starts_at <= v_now OR v_task.registered <= letsswitch.erased_up_to(v_task.device_id) THEN
        RETURN false;
    ELSIF v_waiting.registered <= letsswitch.erased_up_to(v_waiting.device_id) THEN
        RAISE 'whoever was free is being erased' USING ERRCODE = 'serialization_failure';
    ELSIF v_waiting.id IS NOT NULL THEN
        -- After the lead, too: nobody else would pair these two.
        v_is_claimed := NOT letsswitch.is_due(v_task) OR NOT letsswitch.is_due(v_waiting);
        PERFORM letsswitch.notify_claimed(v_task);
        PERFORM letsswitch.notify_claimed(v_waiting);
        v_task := letsswitch.pair_free(v_task, v_waiting, v_is_claimed);
    END IF;
    PERFORM letsswitch.notify_changes(ARRAY[letsswitch.outcome(
        'stayed', v_task, CASE WHEN letsswitch.is_due(v_task) THEN v_task.partner_id IS NULL END)]);
    IF v_is_claimed THEN
        -- Their reminders knew of no room.
        PERFORM letsswitch.tell_rematched(task, NULL) FROM letsswitch.task WHERE task.id IN (v_task.id, v_waiting.id);
    END IF;
    RETURN v_task.partner_id IS NOT NULL;
END
$$;
