import Foundation
import TestSupport
import Testing

@testable import LetsSwitchClient

/// Tests with a simulated server and a manual clock.
@Suite struct CableClientTests {
    private let transport = SimulatedTransport(as: .foreign)
    private let clock = ManualTime()
    private let identifier = #"{"channel":"RoomChannel","id":"7"}"#

    private func client() -> CableClient {
        CableClient(.cable(transport, time: clock.time))
    }

    private func answer(_ type: String) -> String {
        #"{"identifier":\#(Self.quoted(identifier)),"type":"\#(type)"}"#
    }

    private func message(_ message: String) -> String {
        #"{"identifier":\#(Self.quoted(identifier)),"message":\#(message)}"#
    }

    private static func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\\\"") + "\"" }

    private func expectSent(_ command: String, _ data: String? = nil, on link: SimulatedLink) async throws {
        let frame = try await link.sent.next("a command")
        guard case .message(.text, let bytes) = frame else {
            Issue.record("\(frame)")
            return
        }
        let json = try TestJSON(parsing: bytes)
        #expect(json["command"].string == command)
        #expect(json["identifier"].string == identifier)
        #expect(json["data"].string == data)
    }

    private typealias Events = AsyncThrowingStream<CableEvent, any Error>.Iterator

    @Test("Actions wait until their subscription is confirmed")
    func journey() async throws {
        let link = transport.accept()
        let room = await client().subscribe("RoomChannel", ["id": "7"])
        var events = room.events.makeAsyncIterator()
        async let performed: Void = room.perform("ale", ["loud": true])
        link.deliver(#"{"type":"welcome"}"#)
        try await expectSent("subscribe", on: link)
        link.deliver(#"{"type":"ping","message":1795320000}"#)
        link.deliver(answer("confirm_subscription"))
        try await performed
        try await expectSent("message", #"{"action":"ale","loud":true}"#, on: link)
        link.deliver(message(#"{"type":"presence","data":{"count":2}}"#))
        for nonsense in ["x", "[]", "{}", #"{"type":"dance"}"#] { link.deliver(nonsense) }
        link.deliver(message(#""plain""#))
        #expect(try await events.next() == .confirmed)
        guard case .message(let presence)? = try await events.next(),
            case .message(let plain)? = try await events.next()
        else {
            Issue.record("no messages")
            return
        }
        #expect(presence.type == "presence")
        #expect(try presence.data(as: [String: Int].self) == ["count": 2])
        #expect(plain.type == nil)
        #expect(try plain.content(as: String.self) == "plain")
        await #expect(throws: ClientError.invalidValue("content that isn't a JSON object")) {
            try await room.perform("x", [1])
        }
        await room.unsubscribe()
        try await expectSent("unsubscribe", on: link)
        #expect(try await events.next() == nil)
        await #expect(throws: ClientError.cancelled) { try await room.perform("ale") }
        #expect(transport.attempts.all.map(\.target) == ["/cable"])
    }

    @Test("An unanswered subscription is sent again")
    func again() async throws {
        let (first, second) = (transport.accept(), transport.accept())
        let room = await client().subscribe("RoomChannel", ["id": "7"])
        var events = room.events.makeAsyncIterator()
        first.deliver(#"{"type":"welcome"}"#)
        try await expectSent("subscribe", on: first)
        try await clock.pass(.seconds(0.5))
        try await expectSent("subscribe", on: first)
        first.deliver(answer("confirm_subscription"))
        #expect(try await events.next() == .confirmed)
        // The server is silent for six seconds.
        clock.advance(to: .seconds(7))
        #expect(try await events.next() == .lost)
        async let performed: Void = room.perform("ale")
        clock.advance(to: .seconds(8))
        second.deliver(#"{"type":"welcome"}"#)
        try await expectSent("subscribe", on: second)
        second.deliver(answer("confirm_subscription"))
        #expect(try await events.next() == .confirmed)
        try await performed
        try await expectSent("message", #"{"action":"ale"}"#, on: second)
    }

    @Test("The client connects again after a restart of the server, but not after a refusal")
    func disconnects() async throws {
        let (first, second) = (transport.accept(), transport.accept())
        let cable = client()
        let room = await cable.subscribe("RoomChannel", ["id": "7"])
        var events = room.events.makeAsyncIterator()
        first.deliver(#"{"type":"welcome"}"#)
        first.deliver(answer("confirm_subscription"))
        #expect(try await events.next() == .confirmed)
        first.deliver(#"{"type":"disconnect","reason":"server_restart","reconnect":true}"#)
        #expect(try await events.next() == .lost)
        try await clock.pass(.seconds(0.5))
        second.deliver(#"{"type":"welcome"}"#)
        try await expectSent("subscribe", on: second)
        second.deliver(#"{"type":"disconnect","reason":"unauthorized","reconnect":false}"#)
        await #expect(throws: ClientError.sentAway("unauthorized")) { try await events.next() }
        #expect(try await events.next() == nil)
        // A later subscriber gets the same error.
        var later = await cable.subscribe("Other").events.makeAsyncIterator()
        await #expect(throws: ClientError.sentAway("unauthorized")) { try await later.next() }
        await #expect(throws: ClientError.sentAway("unauthorized")) { try await room.perform("ale") }
    }

    @Test("A rejection ends the subscription and its waiting actions")
    func rejection() async throws {
        let link = transport.accept()
        let cable = client()
        let room = await cable.subscribe("RoomChannel", ["id": "7"])
        let performing = Task { try await room.perform("ale") }
        link.deliver(#"{"type":"welcome"}"#)
        try await expectSent("subscribe", on: link)
        link.deliver(answer("reject_subscription"))
        await #expect(throws: ClientError.rejected) { try await performing.value }
        var events = room.events.makeAsyncIterator()
        #expect(try await events.next() == .rejected)
        #expect(try await events.next() == nil)
        await #expect(throws: ClientError.rejected) { try await room.perform("ale") }
        // Other channels aren't affected.
        _ = await cable.subscribe("RoomChannel", ["id": "7"])
        try await expectSent("subscribe", on: link)
    }

    @Test("Subscribers of one channel share a subscription until the last one ends")
    func twice() async throws {
        let link = transport.accept()
        let cable = client()
        let one = await cable.subscribe("RoomChannel", ["id": "7"])
        link.deliver(#"{"type":"welcome"}"#)
        link.deliver(answer("confirm_subscription"))
        var events = one.events.makeAsyncIterator()
        #expect(try await events.next() == .confirmed)
        try await expectSent("subscribe", on: link)
        do {
            let other = await cable.subscribe("RoomChannel", ["id": "7"])
            var others = other.events.makeAsyncIterator()
            #expect(try await others.next() == .confirmed)
            link.deliver(message("1"))
            for iterator in 0..<2 {
                let event = iterator == 0 ? try await events.next() : try await others.next()
                guard case .message? = event else {
                    Issue.record("\(iterator) isn't notified")
                    continue
                }
            }
            await one.unsubscribe()
        }
        try await expectSent("unsubscribe", on: link)
    }

    @Test("An unread subscription ends with an error and doesn't affect the others")
    func overflow() async throws {
        let link = transport.accept()
        let room = await client().subscribe("RoomChannel", ["id": "7"])
        link.deliver(#"{"type":"welcome"}"#)
        try await expectSent("subscribe", on: link)
        link.deliver(answer("confirm_subscription"))
        for number in 0..<1024 { link.deliver(message("\(number)")) }
        try await expectSent("unsubscribe", on: link)
        var events = room.events.makeAsyncIterator()
        for _ in 0..<1024 { #expect(try await events.next() != nil) }
        await #expect(throws: ClientError.bufferFull) { try await events.next() }
        #expect(link.drops.all.isEmpty)
    }

    @Test("Cancelling the reading task unsubscribes", arguments: [false, true])
    func cancelled(between: Bool) async throws {
        let link = transport.accept()
        let room = await client().subscribe("RoomChannel", ["id": "7"])
        let confirmed = EventRecorder<Void>()
        let task = Task {
            for try await _ in room.events {
                if between { withUnsafeCurrentTask { $0?.cancel() } }
                confirmed.append(())
            }
        }
        link.deliver(#"{"type":"welcome"}"#)
        link.deliver(answer("confirm_subscription"))
        try await confirmed.next()
        task.cancel()
        try await expectSent("subscribe", on: link)
        try await expectSent("unsubscribe", on: link)
        try await task.value
        await #expect(throws: ClientError.cancelled) { try await room.perform("ale") }
    }
}
