import Foundation
import TestSupport
import Testing

@testable import LetsSwitchClient

/// Tests with a simulated server and a manual clock.
@Suite struct WebSocketClientTests {
    private struct Note: Codable, Sendable, Equatable {
        let text: String
    }

    private typealias Socket = WebSocketClient<Note, Note>

    private let transport = SimulatedTransport(as: .foreign)
    private let clock = ManualTime()

    private func socket() -> Socket {
        Socket(transport, path: "/x", time: clock.time)
    }

    private func expect(_ events: inout AsyncThrowingStream<Socket.Event, any Error>.Iterator, _ wanted: String)
        async throws
    {
        let event = try await events.next()
        #expect(event.map(Self.text) ?? "end" == wanted)
    }

    private static func text(_ event: Socket.Event) -> String {
        switch event {
        case .opened: "opened"
        case .message(let note): "message \(note.text)"
        case .undecodable(let data): "undecodable \(String(decoding: data, as: UTF8.self))"
        case .waiting(let wait): "waiting \(wait)"
        case .closed(let code): "closed \(code)"
        }
    }

    @Test("The socket connects only for the first read or send")
    func lazy() async throws {
        let socket = socket()
        let link = transport.accept()
        #expect(transport.attempts.all.isEmpty)
        try await socket.send(Note(text: "a"), as: .text)
        #expect(link.sent.all == [.message(.text, Array(#"{"text":"a"}"#.utf8))])
        #expect(transport.attempts.all.map(\.target) == ["/x"])
    }

    @Test("A message that can't be decoded is an event, not the end")
    func decoding() async throws {
        let link = transport.accept()
        var events = socket().events.makeAsyncIterator()
        link.deliver(#"{"text":"a"}"#)
        link.deliver("garbage")
        link.deliver(.message(.binary, Array(#"{"text":"b"}"#.utf8)))
        for wanted in ["opened", "message a", "undecodable garbage", "message b"] { try await expect(&events, wanted) }
    }

    @Test("A lost connection is restored after repeated attempts with growing waits")
    func reconnects() async throws {
        let first = transport.accept()
        transport.refuse(.unreachable("x"))
        transport.refuse(.refused(ServerRefusal(status: 503, retryAfter: .seconds(9))))
        let last = transport.accept()
        let socket = socket()
        var events = socket.events.makeAsyncIterator()
        try await expect(&events, "opened")
        first.close(.goingAway)
        try await expect(&events, "closed 1001")
        try await expect(&events, "waiting 0.5 seconds")
        try await clock.pass(.seconds(0.5))
        try await expect(&events, "waiting 1.0 seconds")
        try await clock.pass(.seconds(1.5))
        try await expect(&events, "waiting 9.0 seconds")
        // A send waits for the connection.
        async let sending: Void = socket.send(Note(text: "late"))
        try await clock.pass(.seconds(10.5))
        try await expect(&events, "opened")
        try await sending
        #expect(last.sent.all.count == 1)
    }

    @Test("The client connects again to a server that was unavailable for an hour")
    func hour() async throws {
        let socket = socket()
        var events = socket.events.makeAsyncIterator()
        var (now, attempts) = (Duration.zero, 0)
        transport.refuse(.unreachable("away"))
        while now < .seconds(3600) {
            guard case .waiting(let wait)? = try await events.next() else { throw ClientFailure.violation("no wait") }
            attempts += 1
            now += wait
            if now < .seconds(3600) { transport.refuse(.unreachable("away")) } else { transport.accept() }
            try await clock.pass(now)
        }
        try await expect(&events, "opened")
        // This clock's random number is 0.5, so the longest waits take half of 30 seconds each.
        #expect(attempts == 244)
    }

    @Test("A permanent close code ends the socket", arguments: [UInt16(1002), 1003, 1007, 1008, 1009, 4000])
    func ends(code: UInt16) async throws {
        let link = transport.accept()
        var events = socket().events.makeAsyncIterator()
        try await expect(&events, "opened")
        link.close(CloseCode(rawValue: code), "why")
        try await expect(&events, "closed \(code)")
        await #expect(throws: ClientError.closed(CloseCode(rawValue: code), reason: "why")) { try await events.next() }
        #expect(try await events.next() == nil)
    }

    @Test("Refusals and invalid answers end the socket with their error")
    func refused() async throws {
        for error in [
            ClientError.refused(ServerRefusal(status: 404, code: "no_such_room")), .garbled("x"), .untrusted("y"),
        ] {
            transport.refuse(error)
            var events = socket().events.makeAsyncIterator()
            await #expect(throws: error) { try await events.next() }
        }
    }

    @Test("The connection counts as lost after 45 seconds of silence")
    func silence() async throws {
        let link = transport.accept(SimulatedLink { _, _ in })
        var events = socket().events.makeAsyncIterator()
        try await expect(&events, "opened")
        try await clock.pass(.seconds(22.5))
        try await link.sent.next("a ping") { $0 == .ping([]) }
        try await clock.sleeps.next("a sleep until 45 s") { $0 == .seconds(45) }
        clock.advance(to: .seconds(40))
        link.deliver(#"{"text":"a"}"#)
        try await expect(&events, "message a")
        // The existing timer is kept for the later deadline, and set again when it fires.
        clock.advance(to: .seconds(45))
        try await clock.pass(.seconds(62.5))
        try await clock.pass(.seconds(85))
        try await expect(&events, "closed 1006")
        try await link.drops.next("a drop")
    }

    @Test("A silent server is pinged, and its pongs keep the connection open")
    func quiet() async throws {
        let pongs = EventRecorder<Void>()
        let link = SimulatedLink { link, payload in
            link.deliver(.pong(payload))
            pongs.append(())
        }
        transport.accept(link)
        let socket = socket()
        var events = socket.events.makeAsyncIterator()
        try await expect(&events, "opened")
        for number in 1...6 {
            // The server doesn't ping a client that sends.
            try await socket.send(Note(text: "a"))
            try await clock.pass(.seconds(22.5) * number)
            try await pongs.next("an answer")
            try await link.taken()
        }
        link.deliver(#"{"text":"a"}"#)
        try await expect(&events, "message a")
        #expect(link.drops.all.isEmpty && transport.attempts.all.count == 1)
    }

    @Test("Cancelling sends 1001 and waits at most five seconds for the answer", arguments: [true, false])
    func cancel(answers: Bool) async throws {
        let link = transport.accept()
        let socket = socket()
        var events = socket.events.makeAsyncIterator()
        try await expect(&events, "opened")
        async let cancelled: Void = socket.cancel()
        try await link.sent.next("a close frame") { $0 == .close(.goingAway) }
        if answers { link.close(.goingAway) } else { try await clock.pass(.seconds(5)) }
        await cancelled
        try await expect(&events, "closed 1001")
        try await expect(&events, "end")
        await #expect(throws: ClientError.cancelled) { try await socket.send(Note(text: "a")) }
    }

    @Test("Cancelling the reading task or releasing the socket closes the connection")
    func letGo() async throws {
        let link = transport.accept()
        let socket = socket()
        let opened = EventRecorder<Void>()
        let task = Task {
            for try await _ in socket.events { opened.append(()) }
        }
        try await opened.next()
        task.cancel()
        try await link.sent.next("a close frame") { $0 == .close(.goingAway) }
        let other = transport.accept()
        do { try await self.socket().send(Note(text: "a")) }
        try await other.sent.next("a close frame") { $0 == .close(.goingAway) }
    }

    @Test("Cancelling the task closes the socket, but a pause in reading doesn't")
    func letGoBetween() async throws {
        let link = transport.accept()
        let socket = socket()
        for try await _ in socket.events { break }
        try await socket.send(Note(text: "a"))
        let task = Task {
            for try await _ in socket.events { withUnsafeCurrentTask { $0?.cancel() } }
        }
        link.deliver("something")
        try await link.sent.next("a close frame") { $0 == .close(.goingAway) }
        try await task.value
        // The socket is held until here.
        await #expect(throws: ClientError.cancelled) { try await socket.send(Note(text: "a")) }
    }

    @Test("The end is reported even if the buffer is full", arguments: [CloseCode.normal, .policyViolation])
    func fullEnd(code: CloseCode) async throws {
        let link = transport.accept()
        let socket = socket()
        try await socket.send(Note(text: "a"))
        for number in 0..<1023 { link.deliver("\(number)") }
        link.close(code)
        try await link.drops.next("a drop")
        var events = socket.events.makeAsyncIterator()
        try await expect(&events, "opened")
        for number in 0..<1023 { try await expect(&events, "undecodable \(number)") }
        try await expect(&events, "closed \(code)")
        if code == .normal {
            try await expect(&events, "end")
        } else {
            await #expect(throws: ClientError.closed(code, reason: "")) { try await events.next() }
        }
    }

    @Test("More than 1,024 unread events end the stream with an error")
    func overflow() async throws {
        let link = transport.accept()
        let socket = socket()
        try await socket.send(Note(text: "a"))
        // One of them is the event that it opened.
        for number in 0..<1024 { link.deliver("\(number)") }
        try await link.drops.next("a drop")
        var events = socket.events.makeAsyncIterator()
        try await expect(&events, "opened")
        for number in 0..<1023 { try await expect(&events, "undecodable \(number)") }
        await #expect(throws: ClientError.bufferFull) { try await events.next() }
    }

    @Test("Messages that arrive while closing are ignored and don't hide the end")
    func floodAtTheEnd() async throws {
        let link = transport.accept()
        let socket = socket()
        var events = socket.events.makeAsyncIterator()
        try await expect(&events, "opened")
        let cancelling = Task { await socket.cancel() }
        try await link.sent.next("the close frame")
        for _ in 0..<2000 { link.deliver(#"{"text":"a"}"#) }
        link.close(.goingAway)
        await cancelling.value
        for wanted in ["closed \(CloseCode.goingAway)", "end"] { try await expect(&events, wanted) }
    }

    @Test("A ping returns its time even if the pong arrives before the send returns")
    func ping() async throws {
        transport.accept()
        #expect(try await socket().ping() == .zero)
    }

    @Test("A ping fails when its connection is lost")
    func pingLost() async throws {
        let opened = EventRecorder<Void>()
        let first = SimulatedLink { link, _ in
            link.close(.goingAway)
            _ = try? await opened.next("another connection")
        }
        transport.accept(first)
        transport.accept()
        let socket = Socket(transport, path: "/x", reconnect: ReconnectPolicy(first: .zero), time: clock.time)
        let reading = Task {
            var opens = 0
            for try await event in socket.events {
                if case .opened = event { opens += 1 }
                if opens == 2 { opened.append(()) }
            }
        }
        await #expect(throws: ClientError.closed(.lost, reason: "")) { try await socket.ping() }
        reading.cancel()
    }

    @Test("An unanswered ping fails after the silence limit")
    func pingUnanswered() async throws {
        let link = transport.accept(SimulatedLink { _, _ in })
        let socket = socket()
        var events = socket.events.makeAsyncIterator()
        try await expect(&events, "opened")
        let ping = Task { try await socket.ping() }
        try await link.sent.next("a ping")
        clock.advance(to: .seconds(44))
        link.deliver(#"{"text":"a"}"#)
        try await expect(&events, "message a")
        try await clock.pass(.seconds(45))
        clock.advance(to: .seconds(45))
        await #expect(throws: ClientError.unreachable("no answer to a ping")) { try await ping.value }
    }

    @Test("A cancelled caller stops waiting")
    func cancelledWaits() async throws {
        // No attempt is accepted, so all callers wait.
        let socket = socket()
        for isEarly in [true, false] {
            let task = Task {
                if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
                try await socket.send(Note(text: "a"))
            }
            if !isEarly { try await transport.attempts.next("an attempt") { _ in true } }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        let reading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await socket.next(socket.reading()) == nil
        }
        #expect(try await reading.value)
        await socket.cancel()
        #expect(try await socket.next(socket.reading()) == nil)
        await #expect(throws: ClientError.cancelled) { _ = try await socket.ping() }
    }
}
