import TestSupport
import Testing

/// The decisions of the page's modules without DOM, evaluated one by one in a browser.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageModuleTests {
    @Test("Each module's decisions are correct")
    func decisions() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(timeZone: "UTC"))
            for (module, cases) in Self.cases {
                for (expression, expected) in cases {
                    let value = try await page.evaluate(
                        "import('/page/\(module).js').then(async m => JSON.stringify(await (\(expression))) ?? 'undefined')"
                    )
                    #expect(value.string == expected, "\(module): \(expression)")
                }
            }
        }
    }

    private static let settings = "{ lead: 60000, roomDuration: 3600000 }"

    private static func state(own: Bool, other: Bool, at now: Int) -> String {
        "m.stateOf({ startsAt: 100000, isOwn: \(own), hasOther: \(other) }, \(now), \(settings))"
    }

    private static let cases: [(String, [(String, String)])] = [
        ("time", time), ("slots", slots), ("countdown", countdown), ("clock", clock), ("retry", retry),
        ("events", events), ("device", device), ("words", words), ("quote", quote), ("notice", notice), ("api", api),
        ("store", store), ("past", past), ("invitations", invitations), ("zone", zone),
    ]

    private static let zone: [(String, String)] = [
        ("m.known('Europe/Prague')", #""Europe/Prague""#),
        ("m.known('America/Argentina/Ushuaia')", #""America/Argentina/Ushuaia""#),
        ("m.known('Etc/GMT-1')", #""Etc/GMT-1""#), ("m.known('UTC')", #""UTC""#),
        ("['Etc/Unknown', undefined, null, '', '+01:00', 'No/Where'].map(m.known)", "[null,null,null,null,null,null]"),
        ("m.zoneOf(0)", #""UTC""#), ("m.zoneOf(60)", #""Etc/GMT-1""#), ("m.zoneOf(-180)", #""Etc/GMT+3""#),
        // Of offsets with minutes, a place is found that has the offset now.
        (
            "import('/page/time.js').then(t => (t.wall(1795300000000, m.zoneOf(345, 1795300000000)) - 1795300000000) / 60000)",
            "345"
        ),
        ("m.offsetName(0)", #""UTC""#), ("m.offsetName(330)", #""UTC+5:30""#), ("m.offsetName(-570)", #""UTC−9:30""#),
        ("m.zoneName('Etc/GMT-1')", #""UTC+1""#), ("m.zoneName('Etc/GMT+10')", #""UTC−10""#),
        ("m.zoneName('America/New_York')", #""America/New York""#),
    ]

    private static let time: [(String, String)] = [
        // An ordinary day in several zones.
        ("m.isoOf(m.instantOfKey('09:00', '2026-11-22', 'Europe/London'))", #""2026-11-22T09:00:00Z""#),
        ("m.isoOf(m.instantOfKey('09:00', '2026-11-22', 'Asia/Kathmandu'))", #""2026-11-22T03:15:00Z""#),
        ("m.isoOf(m.instantOfKey('23:00:30', '2026-11-22', 'Pacific/Chatham'))", #""2026-11-22T09:15:30Z""#),
        // London's clocks go forward at 01:00. The skipped hour has no instants, and 09:00 has one.
        ("m.instantOfKey('01:30', '2026-03-29', 'Europe/London')", "null"),
        ("m.isoOf(m.instantOfKey('09:00', '2026-03-29', 'Europe/London'))", #""2026-03-29T08:00:00Z""#),
        // The clocks go back at 02:00, so an hour occurs twice.
        ("m.isoOf(m.instantOfKey('01:30', '2026-10-25', 'Europe/London'))", #""2026-10-25T00:30:00Z""#),
        ("m.isoOf(m.instantOfKey('01:30+1', '2026-10-25', 'Europe/London'))", #""2026-10-25T01:30:00Z""#),
        ("m.instantOfKey('09:00+1', '2026-10-25', 'Europe/London')", "null"),
        // The clocks go back by half an hour.
        ("m.isoOf(m.instantOfKey('01:45', '2026-04-05', 'Australia/Lord_Howe'))", #""2026-04-04T14:45:00Z""#),
        ("m.isoOf(m.instantOfKey('01:45+1', '2026-04-05', 'Australia/Lord_Howe'))", #""2026-04-04T15:15:00Z""#),
        // A day that a country skipped, and a day without midnight.
        ("m.instantOfKey('09:00', '2011-12-30', 'Pacific/Apia')", "null"),
        ("m.isoOf(m.midnight('2018-11-04', 'America/Sao_Paulo'))", #""2018-11-04T03:00:00Z""#),
        ("m.isoOf(m.midnight('2026-11-22', 'America/New_York'))", #""2026-11-22T05:00:00Z""#),
        ("m.instantOfKey('nine', '2026-11-22', 'UTC')", "null"),
        (
            "Object.values(m.spanOf('2026-03-29', 'Europe/London')).map(m.isoOf)",
            #"["2026-03-29T00:00:00Z","2026-03-29T23:00:00Z"]"#
        ),
        ("m.dayOf(Date.UTC(2026, 10, 21, 23, 30), 'Europe/Prague')", #""2026-11-22""#),
        ("m.nextDays('2026-12-30', 3)", #"["2026-12-30","2026-12-31","2027-01-01"]"#),
        (
            "[['mon', 'tue', 'wed', 'thu', 'fri'], ['sun'], ['mon', 'wed', 'fri'], m.WEEKDAYS].map(m.weekdaysInWords)",
            #"["Every weekday","Sundays","Mondays, Wednesdays and Fridays","Every day"]"#
        ),
        ("[m.weekdayOf('2026-11-22'), m.weekdayOf('2026-11-23'), m.weekdayName('tue')]", #"["sun","mon","Tuesday"]"#),
        ("m.clockFace(Date.UTC(2026, 10, 21, 23, 30, 5), 'Europe/Prague')", #""00:30:05""#),
        (
            "[30e3, 61e3, 3600e3, 3661e3, 86400e3 * 2].map(m.inWords)",
            #"["in a minute","in 2 minutes","in an hour","in an hour and 2 minutes","in 2 days"]"#
        ),
    ]

    private static let past: [(String, String)] = [
        (
            "m.summaryOf({ kept: 3, missed: 1, letDown: 2, streak: 2 })",
            #""3 kept, 1 missed, 2 left by your partner. 2 kept in a row.""#
        ),
        ("m.summaryOf({ kept: 1, missed: 0, letDown: 0, streak: 1 })", #""1 kept, 0 missed.""#),
    ]

    private static let invitations: [(String, String)] = [
        ("m.invitationIn('#invitation/0123456789abcdef0123456789abcdef')", #""0123456789abcdef0123456789abcdef""#),
        ("['', '#room/x', '#invitation/', '#invitation/0123'].map(m.invitationIn)", "[null,null,null,null]"),
    ]

    private static let slots: [(String, String)] = [
        (state(own: false, other: false, at: 39_999), #""free""#),
        (state(own: false, other: true, at: 39_999), #""somebody""#),
        (state(own: true, other: false, at: 39_999), #""own""#),
        (state(own: true, other: true, at: 39_999), #""partner""#),
        (state(own: false, other: false, at: 40_000), #""closed""#),
        (state(own: false, other: true, at: 99_999), #""closed""#),
        (state(own: true, other: false, at: 40_000), #""room""#),
        (state(own: true, other: true, at: 40_000), #""room""#),
        (state(own: false, other: false, at: 100_000), #""past""#),
        // A slot can be joined late for some time after the start. The room of a user without a partner stays open for
        // that time.
        ("m.stateOf({ startsAt: 100000, isOwn: false }, 399999, { ...\(settings), lateJoin: 300000 })", #""late""#),
        ("m.stateOf({ startsAt: 100000, isOwn: false }, 400000, { ...\(settings), lateJoin: 300000 })", #""past""#),
        ("m.stateOf({ startsAt: 100000, isOwn: true }, 399999, { ...\(settings), lateJoin: 300000 })", #""room""#),
        // A user without a partner may ask for a waiting user: from the start until it is too late, and only if the
        // task has no room.
        (
            "[99999, 100000, 399999, 400000].map(now => m.maySeek({ startsAt: 100000 }, 'none', now, { ...\(settings), lateJoin: 300000 }))",
            "[false,true,true,false]"
        ),
        (
            "['waiting', 'open', 'lost', 'over', 'early'].some(link => m.maySeek({ startsAt: 0 }, link, 1, { ...\(settings), lateJoin: 9 }))",
            "false"
        ),
        ("m.maySeek({ startsAt: 0, hasOther: true }, 'none', 1, { ...\(settings), lateJoin: 9 })", "false"),
        (
            "[4, 5].map(now => m.maySeek({ startsAt: 0 }, 'none', now, { roomDuration: 5, lateJoin: 9 }))",
            "[true,false]"
        ),
        ("m.turnOf(null, { room: 'A' })", #""""#),
        ("m.turnOf({ room: 'A', hasOther: true }, { room: 'A', hasOther: true })", #""""#),
        (
            "m.turnOf({ room: 'A', hasOther: true }, { room: 'B', hasOther: true, partner: 'Art' })",
            #""You have another partner: they will start Art.""#
        ),
        // Without a partner the room is over soon. With a partner it is open for an hour.
        (state(own: true, other: false, at: 160_000), #""past""#),
        (state(own: true, other: true, at: 160_000), #""room""#),
        (state(own: true, other: true, at: 3_700_000), #""past""#),
        ("m.stateOf({ startsAt: null }, 0, \(settings))", #""closed""#),
        ("new Set(Object.values(m.WORDS)).size", "8"),
        (
            "m.slotsOf({ schedule: { '08:00': { id: 'x', title: '', hasOwnTask: false, hasSomebodyElse: true } } }, '2026-11-22', 'UTC').map(s => [s.key, s.startsAt, s.hasOther, s.room])",
            "[[\"08:00\",1795334400000,true,null]]"
        ),
        ("m.slotsOf(undefined, '2026-11-22', 'UTC')", "[]"),
        (
            "m.newlyPaired([{ startsAt: 1, isOwn: true, hasOther: true }, { startsAt: 2, isOwn: true }, { startsAt: 3, hasOther: true }], [1, 2, 3].map(startsAt => ({ startsAt, isOwn: true, hasOther: true }))).startsAt",
            "2"
        ),
        ("m.newlyPaired([], [{ startsAt: 1, isOwn: true, hasOther: true }])", "null"),
        (
            "m.nextTask([{ startsAt: 1, isOwn: true }, { startsAt: 100000, isOwn: true, title: 'A' }], 90000, \(settings)).title",
            #""A""#
        ),
    ]

    private static let countdown: [(String, String)] = [
        // The last second of the countdown lasts until the start.
        (
            "[-60001, -60000, -5001, -5000, -1, 0, 19999, 20000, 125000].map(t => { const c = m.countdown(0, t, 60000); return c.phase + ' ' + c.text })",
            #"["wait 61","wait 60","wait 6","last 5","last 1","start Start!","start Start!","going Go on","going 2 min"]"#
        ),
        ("[-3599000, -3725000].map(t => m.countdown(0, t, 60000).text)", #"["59:59","1:02:05"]"#),
        ("[-90000, -60000, -30000, 0, 5000].map(t => m.countdown(0, t, 60000).progress)", "[0,0,0.5,1,1]"),
        (
            "[[null, 47], [47, 46], [31, 30], [31, 29], [11, 10], [6, 5], [2, 1], [1, 0], [0, 0], [null, 0], [null, 300]].map(([a, b]) => m.spoken(a, b))",
            #"["47 seconds to go",null,"30 seconds to go","29 seconds to go","10 seconds to go","5","1","Start!",null,null,"5 minutes to go"]"#
        ),
    ]

    /// A server whose clock is 12,345 ms ahead, asked over a connection with a round trip of 40 ms.
    private static let asked = """
        (tries => {
            let local = 1000250
            const clock = new m.ServerClock(() => local)
            const errors = []
            for (let i = 0; i < tries; i++) {
                local += clock.isKnown ? clock.nextProbe : 0
                const sent = local
                local += 20
                const date = Math.floor((local + 12345) / 1000) * 1000
                local += 20
                clock.observe(date, sent, local)
                errors.push(Math.abs(clock.offset - 12345))
            }
            return { errors, clock, local }
        })
        """

    private static let clock: [(String, String)] = [
        ("new m.ServerClock(() => 5).now()", "5"),
        ("\(asked)(1).errors[0] <= 520", "true"),
        ("\(asked)(6).errors[5] < 50 && \(asked)(6).clock.uncertainty < 60", "true"),
        // The error never exceeds the uncertainty that the clock states.
        (
            "[1, 2, 3, 4, 5, 6].every(n => { const { errors, clock } = \(asked)(n); return errors[n - 1] <= clock.uncertainty + 1 })",
            "true"
        ),
        // If one of the clocks is set, the newest answer counts.
        (
            "(() => { const { clock, local } = \(asked)(6); clock.observe(Math.floor(local / 1000) * 1000, local, local + 10); return Math.abs(clock.offset) < 1010 })()",
            "true"
        ),
        ("(() => { const c = new m.ServerClock(() => 0); c.observe(NaN, 0, 1); return c.isKnown })()", "false"),
    ]

    private static let retry: [(String, String)] = [
        (
            "(() => { const b = new m.Backoff({ first: 500, most: 8000, random: () => 1 }); return [0, 0, 0, 0, 0, 0].map(() => b.next()) })()",
            "[500,1000,2000,4000,8000,8000]"
        ),
        (
            "(() => { const b = new m.Backoff({ random: () => 0 }); return [b.next(), b.next(15000), (b.reset(), b.next())] })()",
            "[250,15500,250]"
        ),
        (
            "(() => { const b = new m.Backoff(); const all = Array.from({ length: 100 }, () => b.next()); return all.every(n => n >= 250 && n <= 30000) && new Set(all).size > 50 })()",
            "true"
        ),
        // The first request is made soon, and the next ones every three seconds. A request for the user's own change is
        // made soon in any case. The last change is never skipped.
        (
            "(() => { const p = new m.Pace(() => 0); return [p.next(0, false), p.next(10, false), (p.asked(50), p.next(100, false)), p.next(200, true), p.next(210, true), (p.asked(250), p.next(260, false))] })()",
            "[50,null,2950,50,null,2990]"
        ),
        ("['3', null, 'Sat', '-1', '99999'].map(m.retryAfter)", "[3000,0,0,0,3600000]"),
        (
            "[1000, 1001, 1006, 1008, 1011].map(code => m.afterClose(code, true))",
            #"["over","again","again","ask","ask"]"#
        ),
        ("[1000, 1006].map(code => m.afterClose(code, false))", #"["over","ask"]"#),
        ("[403, 404, 410, 426, 429, 503].map(m.afterRefusal)", #"["again","none","over","again","again","again"]"#),
    ]

    private static let stream =
        ": hello\\n\\nid: 1\\nevent: reminder\\ndata: {\\\"a\\\":1}\\n\\nevent: schedule\\r\\ndata: x\\r\\ndata: y\\r\\n\\r\\ndata:z\\r\\rid\\n\\nretry: 5\\n\\nevent: lost"

    private static let events: [(String, String)] = [
        (
            "new m.EventStreamDecoder().decode(\"\(stream)\").map(e => [e.id, e.event, e.data])",
            #"[["1","reminder","{\"a\":1}"],["1","schedule","x\ny"],["1","message","z"]]"#
        ),
        // The events are the same if the stream is cut anywhere, in two or into single characters.
        (
            """
            (() => {
                const text = "\(stream)"
                const whole = JSON.stringify(new m.EventStreamDecoder().decode(text))
                const cut = pieces => { const d = new m.EventStreamDecoder(); return JSON.stringify(pieces.flatMap(p => d.decode(p))) }
                return [...text].every((_, i) => cut([text.slice(0, i), text.slice(i)]) === whole) && cut([...text, '']) === whole
            })()
            """, "true"
        ),
        ("new m.EventStreamDecoder().decode('\\uFEFFdata: a\\n\\n').length", "1"),
        (
            "(() => { const d = new m.EventStreamDecoder(); d.lastId = 'x'; d.decode('id: a\\0b\\n\\n'); return d.lastId })()",
            #""x""#
        ),
    ]

    private static let device: [(String, String)] = [
        ("/^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/.test(m.newDevice())", "true"),
        ("m.newDevice({ getRandomValues: bytes => bytes.fill(255) })", #""FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF""#),
        (
            "[' a-b\\n', '', '   ', 'x'.repeat(129), '🍺'.repeat(128).length, null].map(t => m.readDevice(t)?.slice(0, 3) ?? null)",
            #"["a-b",null,null,null,"256",null]"#
        ),
    ]

    private static let quote: [(String, String)] = [
        (
            "['History', 'Größe 語 🍺', null, undefined].map(m.quoted)",
            #"["History","Größe 語 🍺","something","something"]"#
        ),
        (
            #"['\u05e9', 'a\u202eb', 'a\u2069b', '\u2067\u202ba\u2069\u202cb', '\u05e9\nb'].map(m.quoted).map(t => /^\u2068.*\u2069$/.test(t) && t.slice(1, -1))"#,
            "[\"\u{5E9}\",\"a\u{202E}b\u{202C}\",\"ab\",\"\u{2067}\u{202B}a\u{2069}b\",\"\u{5E9} b\"]"
        ),
    ]

    private static let notice: [(String, String)] = [
        (
            #"m.noticeOf({ title: '\u05e9', startTime: '09:00', partnerTask: '\u202eb' })[0]"#,
            "\"\u{2068}\u{5E9}\u{2069} at 09:00\""
        ),
        (
            #"m.noticeOf({ title: 'A', startTime: '09:00', partnerTask: '\u202eb' })[1].body"#,
            "\"Your partner will start \u{2068}\u{202E}b\u{202C}\u{2069}. The waiting room is open.\""
        ),
        (
            #"m.partnerNoticeOf({ title: 'A', startTime: '09:00', startsAt: '2026-11-25T09:00:00Z' }, Date.UTC(2026, 10, 25, 8)).map(p => p.body ?? p)"#,
            "[\"A at 09:00\",\"You have no partner for this task any more.\"]"
        ),
        (
            #"m.partnerNoticeOf({ title: 'A', startTime: '09:00', startsAt: '2026-11-25T09:00:00Z', roomId: 'R', partnerTask: 'b' }, Date.UTC(2026, 10, 22, 8)).map(p => p.body ?? p)"#,
            "[\"A at 09:00, Wednesday, November 25\",\"You have a new partner, who will start b.\"]"
        ),
    ]

    private static let words: [(String, String)] = [
        (
            "['', ' ', 'A', '🍺'.repeat(200), 'x'.repeat(201)].map(t => m.titleFault(t) === '')",
            "[false,false,true,true,false]"
        ),
        (
            #"['\u200b', '\u202e\u2069', '\u3164', '\u2800', '\ufe0f', '\u{e0020}', '\u200bA', '\u05e9'].map(t => m.titleFault(t) === '')"#,
            "[false,false,false,false,false,false,true,true]"
        ),
        (
            "m.sentence(new m.Refusal(409, { code: 'registration_closed', reason: 'r' }), '09:00')",
            #""It is too late to promise something for 09:00.""#
        ),
        (
            "m.sentence(new m.Refusal(400, { code: 'invalid_request', reason: 'title is long.' }), '09:00')",
            #""title is long.""#
        ),
        ("m.sentence(new m.Refusal(429, { code: 'too_many_conversations', reason: 'Leave one.' }))", #""Leave one.""#),
        ("[0, 429, 500].map(status => m.sentence(new m.Refusal(status), '09:00').length > 20)", "[true,true,true]"),
        ("m.sentence(new m.Refusal(0), '09:00').includes('may have received')", "true"),
        (
            "[0, 429, 503].map(status => m.loadingSentence(new m.Refusal(status, { reason: 'r' })).split('.')[0])",
            #"["The day can’t be loaded","The server can’t read the day now","The server can’t read the day now"]"#
        ),
        ("m.loadingSentence(new m.Refusal(400, { reason: 'The zone is unknown.' }))", #""The zone is unknown.""#),
    ]

    private static let store: [(String, String)] = [
        // The hours of one zone differ from those of another, so a stored day belongs to its zone.
        (
            "(m.days.set('2099-11-22', 'Europe/London', { schedule: {} }, 5), ['Europe/London', 'America/New_York'].map(zone => m.days.get('2099-11-22', zone)))",
            #"[{"zone":"Europe/London","answer":{"schedule":{}},"asOf":5},null]"#
        ),
        ("m.days.get('2099-11-23', 'UTC')", "null"),
    ]

    private static let api: [(String, String)] = [
        // An incomplete answer, or one that isn't the server's, counts as no answer.
        ("new m.Api({ observe() {} }).request('GET', '/page/api.js').catch(refusal => refusal.status)", "0"),
        ("new m.Api({ observe() {} }).request('GET', '/healthz').then(() => 'answered')", #""answered""#),
    ]
}
