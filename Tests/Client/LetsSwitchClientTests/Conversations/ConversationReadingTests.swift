import Foundation
import TestSupport
import Testing

@testable import LetsSwitchClient

/// A reader of conversations with a simulated server.
@Suite struct ConversationReadingTests {
    private let tea = UUID()
    private let transport = SimulatedTransport(as: .daemon)
    /// A message with members that this library doesn't know.
    private let laterTransport = SimulatedTransport(as: .foreign)
    private let clock = ManualTime()

    private func reading(
        after offsets: [UUID: Int] = [:], over transport: SimulatedTransport? = nil
    ) -> ConversationReading {
        let transport = transport ?? self.transport
        let requests = DeviceRequests(transport: transport, deviceID: "ada", fields: [], reconnect: .default)
        return ConversationReading(requests, after: offsets, time: clock.time)
    }

    private func handshake(_ offset: Int) -> String {
        ##"{"type":"handshake","id":"\##(UUID())","user":"ada","binding":"#.ada.#","offsets":{"\##(tea)":\##(offset)}}"##
    }

    private func message(_ offset: Int) -> String {
        #"{"type":"message","routingKey":"ada.bob","message":\#(bare(offset))}"#
    }

    private func bare(_ offset: Int) -> String {
        #"{"id":"\#(UUID())","content":"\#(offset)","author":"bob","date":"2026-11-22T09:00:00Z","#
            + #""conversation":"\#(tea)","offset":\#(offset)}"#
    }

    private func receiveOffset(_ reading: ConversationReading) async throws -> Int? {
        while let item = try await reading.next() {
            if case .message(let message) = item.event { return message.offset }
        }
        return nil
    }

    @Test("Each connection begins after the last received message")
    func resumes() async throws {
        let (first, second) = (transport.accept(), transport.accept())
        let reading = reading(after: [tea: 3])
        first.deliver(handshake(5))
        for offset in 4...5 { first.deliver(message(offset)) }
        for offset in 4...5 { #expect(try await receiveOffset(reading) == offset) }
        first.close(.goingAway)
        async let next = receiveOffset(reading)
        try await clock.pass(.seconds(0.5))
        second.deliver(handshake(7))
        // A repeated message has no effect.
        for offset in 5...7 { second.deliver(message(offset)) }
        #expect(try await next == 6)
        #expect(try await receiveOffset(reading) == 7)
        #expect(
            transport.attempts.all.map(\.target)
                == [3, 5].map { "/conversations/socket?deviceId=ada&after=\(tea):\($0)" })
        #expect(first.sent.all.isEmpty && second.sent.all.isEmpty)
    }

    @Test("A gap is requested until the server answers")
    func gap() async throws {
        let link = transport.accept()
        let reading = reading(after: [tea: 3])
        link.deliver(handshake(3))
        link.deliver(message(6))
        async let next = receiveOffset(reading)
        let question = LinkFrame.message(
            .text, Array(#"{"type":"history","conversation":"\#(tea)","after":3,"ref":"\#(tea)"}"#.utf8))
        func asked() async throws {
            guard case .message(_, let bytes) = try await link.sent.next("a question") else { return }
            guard case .message(_, let wanted) = question else { return }
            #expect(try TestJSON(parsing: bytes) == TestJSON(parsing: wanted))
        }
        try await asked()
        link.deliver(#"{"type":"error","ref":"\#(tea)","code":"database_unavailable","reason":"x"}"#)
        try await clock.pass(.seconds(1))
        try await asked()
        link.deliver(
            #"{"type":"history","ref":"\#(tea)","messages":[\#(bare(4)),\#(bare(5)),\#(bare(6))],"lastOffset":6}"#)
        #expect(try await next == 4)
        for offset in 5...6 { #expect(try await receiveOffset(reading) == offset) }
    }

    @Test("A valid reaction is an event, and an invalid one is ignored")
    func reactions() async throws {
        let link = laterTransport.accept()
        let reading = reading(after: [tea: 3], over: laterTransport)
        let message = UUID()
        func reaction(_ added: String) -> String {
            #"{"type":"reaction","conversation":"\#(tea)","offset":3,"messageId":"\#(message)","user":"bob","emoji":"🎉","added":\#(added)}"#
        }
        link.deliver(handshake(3))
        for added in ["true", "\"no\"", "false"] { link.deliver(reaction(added)) }
        var received: [(change: ReactionChange, source: String?)] = []
        while received.count < 2, let item = try await reading.next() {
            if case .reaction(let change) = item.event { received.append((change, item.source)) }
        }
        #expect(received.map(\.change.isAdded) == [true, false])
        #expect(received.map(\.source) == [reaction("true"), reaction("false")])
        let change = try #require(received.first?.change)
        #expect(change.conversation == tea && change.offset == 3 && change.messageID == message)
        #expect(change.user == "bob" && change.emoji == "🎉")
    }

    @Test("A message keeps its reactions when it is decoded and encoded")
    func coding() throws {
        let plain = bare(4)
        let reacted = plain.dropLast() + #","reactions":[{"count":2,"emoji":"🎉","users":["ada","bob"]}]}"#
        for (text, count) in [(plain, 0), (String(reacted), 1)] {
            let message = try JSONDecoder().decode(Message.self, from: Data(text.utf8))
            #expect(message.reactions.count == count)
            let encoded = try TestJSON(parsing: Array(JSONEncoder().encode(message)))
            #expect(encoded["reactions"].isAbsent == (count == 0))
            #expect(try JSONDecoder().decode(Message.self, from: JSONEncoder().encode(message)) == message)
        }
    }

    /// Returns what a reader returns that has missed messages 4 to 6 and receives these pages.
    private func given(of pages: [String]) async throws -> [String] {
        let link = laterTransport.accept()
        let reading = reading(after: [tea: 3], over: laterTransport)
        link.deliver(handshake(3))
        link.deliver(message(6))
        for page in pages { link.deliver(page) }
        link.close(.normal)
        var given: [String] = []
        while let item = try await reading.next() {
            if case .message = item.event { given.append(item.source ?? "") }
        }
        return given
    }

    private func page(_ messages: String) -> String {
        #"{"lastOffset":6,"messages":\#(messages),"ref":"\#(tea)","type":"history"}"#
    }

    @Test("Requested messages are returned with all their members")
    func asItCame() async throws {
        let later =
            #"{"offset":4, "mood":{"\u00e9":[1.0e2,"]}",{}]},"content":"caf\u00e9 \/ \ud83c\udf7a","author":"bob","#
            + "\n"
            + #" "date":"2026-11-22T09:00:00Z","weight":1.0e2,"conversation":"\#(tea)","id":"\#(UUID())" , "z":null}"#
        let (second, third) = (bare(5), bare(6))
        let given = try await given(of: [page("[ \(later) ,\(second)\n,\(third)]")])
        #expect(given == [later, second, third].map { #"{"type":"message","message":\#($0)}"# })
    }

    @Test(
        "An invalid page is ignored",
        arguments: ["[MESSAGE", "[MESSAGE}", "[MESSAGE,]", "[MESSAGE,{}]", "[MESSAGE MESSAGE]", "MESSAGE", "null"])
    func senseless(messages: String) async throws {
        let right = bare(6)
        let wrong = page(messages.replacingOccurrences(of: "MESSAGE", with: bare(4)))
        #expect(try await given(of: [wrong, page("[\(right)]")]) == [#"{"type":"message","message":\#(right)}"#])
    }
}
