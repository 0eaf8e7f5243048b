import TestSupport
import Testing

/// The room's WebSocket over a bad network, with sockets and a server that the test controls.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageLinkTests {
    /// `sockets` has the sockets that the link made, and `received` what it reported. Calling a function in `answers`
    /// fails the link's request for the reason of a refusal.
    private static let world = """
        const { RoomLink } = await import('/page/link.js')
        const sockets = [], received = [], answers = []
        globalThis.WebSocket = class {
            static OPEN = 1
            readyState = 0
            constructor() { sockets.push(this) }
            close() { this.isClosed = true }
            say(type) {
                this.readyState = 1
                this.onmessage({ data: JSON.stringify({ type }) })
            }
        }
        const api = { ask: () => new Promise((_, fail) => answers.push(fail)) }
        const link = new RoomLink(api, 'room', 'task', 0, { state: name => received.push(name), ale: () => received.push('ale') })
        const pause = time => new Promise(done => setTimeout(done, time))
        const made = async count => { while (sockets.length < count) await pause(5) }
        await made(1)
        """

    private static func run(_ script: String) async throws -> TestJSON {
        var value: TestJSON = .absent
        try await PageWorld.run { world in
            let page = try await world.visit()
            value = try await page.evaluate("(async () => { \(Self.world); \(script) })()")
        }
        return value
    }

    @Test("The page never opens a second socket")
    func oneSocket() async throws {
        let seen = try await Self.run(
            """
            sockets[0].onclose({ code: 1006 })
            dispatchEvent(new Event('online'))
            await made(2)
            sockets[1].say('handshake')
            answers[0]()
            await pause(1200)
            return [sockets.length, ...received]
            """)
        #expect(seen == [2, "lost", "open"])
    }

    @Test("Without a network, the user isn't in the room")
    func offline() async throws {
        let seen = try await Self.run(
            """
            sockets[0].say('handshake')
            dispatchEvent(new Event('offline'))
            received.push(sockets[0].isClosed, link.sendAle())
            await made(2)
            sockets[1].say('handshake')
            sockets[0].say('aleResponse')
            sockets[0].onclose({ code: 1006 })
            received.push(link.isOpen)
            sockets[1].say('aleResponse')
            return received
            """)
        #expect(seen == ["open", "lost", true, false, "open", true, "ale"])
    }

    @Test("A connection that can't be established is given up")
    func patience() async throws {
        let seen = try await Self.run(
            """
            const wait = setTimeout
            globalThis.setTimeout = (work, time) => wait(work, time === 10_000 ? 100 : time)
            sockets[0].onclose({ code: 1006 })
            answers[0]()
            await made(3)
            link.close()
            await pause(1200)
            return [sockets.length, sockets[1].isClosed, sockets[2].isClosed, ...received]
            """)
        #expect(seen == [3, true, true, "lost", "lost"])
    }
}
