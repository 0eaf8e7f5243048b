import Foundation
import TestSupport
import Testing

/// How the conversations page is served, and the decisions of its modules.
struct ConversationPageServingTests {
    @Test(
        "The page is one compressed response of less than 26 KB with its files"
    )
    func serving() async throws {
        try await PageWorld.run { world in
            func get(_ target: String, _ headers: TestHeaders = [:]) async throws -> TestResponse {
                try await HTTPTestClient.request(at: world.endpoint, "GET", target, headers: headers)
            }
            let small = try await get("/conversations", ["Accept-Encoding": "gzip"])
            #expect(small.headers["Content-Encoding"] == "gzip")
            let page = try await get("/conversations")
            #expect(page.headers["Content-Type"] == "text/html; charset=utf-8")
            #expect(page.text.hasPrefix("<!doctype html>") && page.text.contains("<style>"))
            #expect(!page.text.contains(/(?m)^(import|export)\s/))
            let policy = page.headers["Content-Security-Policy"] ?? ""
            #expect(policy.hasPrefix("default-src 'none'; script-src 'sha256-") && !policy.contains("unsafe"))
            #expect(policy.contains("require-trusted-types-for 'script'; trusted-types page; worker-src 'self'"))
            var size = small.body.count
            for match in page.text.matches(of: /(?:href|src)="(\/[a-z]+\/[^"]+)"/) {
                size += try await get(String(match.1), ["Accept-Encoding": "gzip"]).body.count
            }
            #expect(size < 26_000)
            let again = try await get("/conversations", ["If-None-Match": page.headers["ETag"] ?? ""])
            #expect(again.status == 304 && again.body.isEmpty)
            let head = try await HTTPTestClient.request(at: world.endpoint, "HEAD", "/conversations")
            #expect(head.status == 200 && head.headers["Content-Length"] == "\(page.body.count)")

            try await world.name("ada")
            #expect(try await get("/conversations?deviceId=ada").text == #"{"conversations":[]}"#)
            #expect(try await get("/conversations?deviceId=").status == 400)
        }
    }

    @Test("The modules' decisions are correct", .enabled(if: Chromium.isInstalled, "Chromium is not installed"))
    func decisions() async throws {
        let page = try await BrowserPage.open(.init(timeZone: "Europe/Prague"))
        for (module, cases) in [
            ("talks", Self.talks), ("moments", Self.moments), ("identity", Self.identity),
        ] {
            let source = Data(try Self.source(of: module).utf8).base64EncodedString()
            for (expression, expected) in cases {
                let value = try await page.evaluate(
                    "import('data:text/javascript;base64,\(source)').then(m => JSON.stringify(\(expression)))")
                #expect(value.string == expected, "\(module): \(expression)")
            }
        }
        try await page.close()
    }

    private static func source(of module: String) throws -> String {
        try Checkout.text("Sources/Features/Conversations/Page/Assets/\(module).js")
    }

    /// Returns JavaScript that evaluates `result` for a conversation `talk` of which three messages are loaded.
    private static func talk(_ result: String) -> String {
        """
        ((talk, say) => {
            talk.take({ type: 'group', participants: ['ada', 'bob', 'eve'], muted: false, lastOffset: 6, readOffset: 4 })
            talk.prepend({ messages: [4, 5, 6].map(say), lastOffset: 6 })
            return \(result)
        })(new m.Talk('C'), (offset, author = 'bob') => ({ id: `${offset}`, offset, author: 'bob', content: 'x' }))
        """
    }

    private static let talks: [(String, String)] = [
        ("['ada', 'a_B-9', '', 'a.b', 'é', 'x'.repeat(33)].map(m.isName)", "[true,true,false,false,false,false]"),
        (
            talk("[talk.receive(say(7)), talk.receive(say(7)), talk.receive(say(9)), talk.received]"),
            #"["new","known","gap",7]"#
        ),
        (talk("[talk.append({ messages: [6, 7, 8].map(say), lastOffset: 8 }), talk.received]"), "[2,8]"),
        (
            talk("[talk.receive(say(7)), talk.append({ messages: [6, 7].map(say), lastOffset: 9 }), talk.received]"),
            #"["new",0,7]"#
        ),
        (talk("[talk.trim(2), talk.messages.length, talk.received, talk.hasEarlier]"), "[null,2,6,true]"),
        // Purged messages are missing from the answer, and count as received.
        (talk("[talk.append({ messages: [], lastOffset: 8 }), talk.received]"), "[0,8]"),
        (
            talk(
                "[talk.hasEarlier, talk.prepend({ messages: [1, 2, 3].map(say) }), talk.messages.length, talk.hasEarlier]"
            ), "[true,null,6,false]"
        ),
        (
            talk("[talk.unread('ada'), talk.unread('bob'), talk.title('ada'), talk.hasLeft('max')]"),
            #"[2,0,"bob, eve",true]"#
        ),
        // If the other user of a pair has left, the title is the author of the messages.
        (
            talk(
                "(talk.take({ type: 'person', participants: ['ada'], lastOffset: 6, readOffset: 6 }), talk.title('ada'))"
            ), #""bob""#
        ),
        // Stored messages are restored, and the server's answer replaces them.
        (
            talk(
                """
                (kept => {
                    const back = new m.Talk('C').take(kept)
                    back.restore(kept.messages)
                    const seen = [back.isKept, back.messages.length, back.receive(say(7)), back.messages.length]
                    back.prepend({ messages: [6, 7].map(offset => say(offset)), lastOffset: 7 })
                    return [...seen, back.isKept, back.messages.length, back.received]
                })(JSON.parse(JSON.stringify(talk.kept)))
                """), #"[true,3,"new",3,false,2,7]"#
        ),
        // Reactions of the server's messages, changes of them, repeats, and a page that is read again.
        (
            talk(
                """
                (react => [
                    react('ada', '🎉', true), react('ada', '🎉', true), react('bob', '🎉', true), react('ada', '🎉', false),
                    react('bob', '🎉', false),
                    (talk.takeReactions({ messages: [{ id: '5', reactions: [] }, { id: '9' }] }), talk.messages[1].reactions),
                ])((user, emoji, added) => {
                    talk.react({ offset: 5, user, emoji, added })
                    talk.react({ offset: 50, user, emoji, added })
                    return talk.messages[1].reactions.map(one => [one.count, ...one.users].join())
                })
                """), #"[["1,ada"],["1,ada"],["2,ada,bob"],["1,bob"],[],[]]"#
        ),
        // The first message was stored between the request for the first page and its answer.
        (
            """
            ((talk, first) => {
                talk.prepend({ messages: [], lastOffset: 1 }, 1)
                return [talk.received, talk.receive(first), talk.messages.length]
            })(new m.Talk('C'), { id: '1', offset: 1, author: 'bob', content: 'x' })
            """, #"[0,"new",1]"#
        ),
        (
            talk("(talk.part('eve', ['ada', 'bob']), [talk.title('ada'), talk.departures])"),
            #"["bob",[{"user":"eve","after":6}]]"#
        ),
        (
            """
            (talks => {
                const one = (id, lastOffset) => ({ id, type: 'person', participants: ['ada', 'bob'], lastOffset, readOffset: 0 })
                talks.takeList({ conversations: [one('A', 1), one('B', 1)] }, 0)
                const moment = talks.moment
                const { outcome } = talks.receive({ routingKey: 'ada.eve', message: { conversation: 'C', offset: 1, author: 'eve' } })
                talks.takeList({ conversations: [one('B', 1)] }, moment)
                return [outcome, talks.all.map(talk => talk.id), talks.isBehind({ B: 1, C: 1 }), talks.isBehind({ B: 2 })]
            })(new m.Talks())
            """, #"["new",["C","B"],false,true]"#
        ),
    ]

    private static let identity: [(String, String)] = [
        ("m.subjectOf(`a.${btoa(JSON.stringify({ sub: 'ada' }))}.c`)", #""ada""#),
        ("[null, '', 'a.b.c', `a.${btoa('{}')}.c`].map(m.subjectOf)", "[null,null,null,null]"),
        ("m.ticketIn('#token=a.b.c')", #"{"ticket":"a.b.c","rest":""}"#),
        ("m.ticketIn('#9F21&token=a.b.c')", ##"{"ticket":"a.b.c","rest":"#9F21"}"##),
        ("m.ticketIn('#9F21')", ##"{"ticket":null,"rest":"#9F21"}"##),
    ]

    private static let moments: [(String, String)] = [
        ("m.hour(Date.UTC(2026, 10, 22, 23, 5))", #""00:05""#),
        (
            "[0, 20, 30, 24 * 40, 24 * 400].map(hours => m.dayTitle(Date.UTC(2026, 10, 22, 12) - hours * 3600e3, Date.UTC(2026, 10, 22, 12)))",
            #"["Today","Yesterday","Yesterday","Tuesday 13 October","18 October 2025"]"#
        ),
        (
            "[0, 30, 24 * 40].map(hours => m.shortly(Date.UTC(2026, 10, 22, 12) - hours * 3600e3, Date.UTC(2026, 10, 22, 12)))",
            #"["13:00","Sat","13 Oct"]"#
        ),
    ]
}
