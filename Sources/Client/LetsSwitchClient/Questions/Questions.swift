#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A question session, for a member of the audience.
///
/// ```swift
/// let questions = client.questions(session)
/// try await questions.ask("Why tea?")
/// for try await case .changed(let question) in questions.events { print(question.votes, question.content) }
/// ```
public final class Questions: Sendable {
    /// An event of a session: `if case .changed(let question) = event { show(question) }`
    public enum Event: Sendable, Hashable {
        /// The client is connected. The list of questions follows, after the first connection and after each later one:
        /// `case .entered: clear()`
        case entered
        /// Existing questions, the oldest first, and whether more of them follow: `case .list(let part, _):
        /// append(part)`
        case list([Question], hasMore: Bool)
        /// A new or changed question: `case .changed(let question): show(question)`
        case changed(Question)
        /// A question that isn't shown any more: `case .removed(let id): hide(id)`
        case removed(UUID)
        /// The presenter has answered a question of this device: `case .answered(let id): blink(id)`
        case answered(UUID)
        /// An announcement of the presenter: `case .announced(let text): print(text)`
        case announced(String)
        /// The session was opened or closed: `case .state(let isOpen): field.isEnabled = isOpen`
        case state(isOpen: Bool)
        /// The number of participants, including this one. It comes at first and after each change: `case .presence(let
        /// count): badge.text = "\(count)"`
        case presence(count: Int)
        /// The server refused a request, such as a vote: `case .refused(let reason): print(reason)`
        case refused(String)
        /// There is no connection. The client tries to connect again after this time: `case .waiting(let wait):
        /// print(wait)`
        case waiting(Duration)
        /// The connection has ended: `case .closed(let code): print(code)`
        case closed(CloseCode)
    }

    struct Incoming: Decodable, Sendable {
        let type: String
        let id: String?
        let success: Bool?
        let message: String?
        let reason: String?
        let content: String?
        let state: String?
        let question: Question?
        let questions: [Question]?
        let more: Bool?
        let questionId: UUID?
        let data: People?

        struct People: Decodable, Sendable {
            let count: Int?
        }
    }

    struct Outgoing: Encodable, Sendable {
        let type: String
        var id: String?
        var content: String?
        var questionId: UUID?
    }

    /// An event, and the server's JSON if the event comes from the server.
    package struct Item: Sendable {
        package let event: Event
        package let source: String?
    }

    private let requests: DeviceRequests
    private let path: String
    private let live: LinkSession

    /// - Parameter session: The session, or `nil` for the server's open session.
    init(_ session: UUID?, _ requests: DeviceRequests) {
        self.requests = requests
        path =
            session.map { "/questions/\($0.uuidString)/socket?\(requests.identity)" } ?? "/socket?\(requests.identity)"
        live = LinkSession(requests.reconnect, silence: .seconds(45)) { [path] _ throws(ClientError) in
            try await requests.transport.webSocket(
                ClientRequest(target: path + "&live=true", fields: requests.fields), subprotocols: [])
        }
    }

    deinit {
        let live = live
        Task { await live.cancel(with: .goingAway) }
    }

    /// Asks a question, and returns its id when the server has stored it.
    ///
    /// ```swift
    /// let id = try await questions.ask("Why tea?")
    /// ```
    ///
    /// - Throws: ``ClientError/sentAway(_:)`` with the server's reason if the session is closed, if the question is
    ///   blank or longer than 2,000 Unicode scalars, or if this device has asked six questions within a minute. A lost
    ///   connection also throws, because the question may have been stored and isn't asked again.
    ///   ``ClientError/cancelled`` if the task is cancelled.
    @discardableResult
    public func ask(_ content: String) async throws -> UUID? {
        try await asked(content).id
    }

    /// Asks a question, and returns the server's JSON and sentence, too.
    package func asked(_ content: String) async throws -> (id: UUID?, source: String, sentence: String) {
        let session = LinkSession(.never, silence: .seconds(45)) { [requests, path] _ throws(ClientError) in
            try await requests.transport.webSocket(
                ClientRequest(target: path, fields: requests.fields), subprotocols: [])
        }
        let reading = EventReading(session)
        while let event = try await reading.next() {
            guard case .received(.message(_, let bytes)) = event,
                let incoming = try? WireDate.decoder.decode(Incoming.self, from: Data(bytes))
            else { continue }
            switch incoming.type {
            case "handshake":
                let question = Outgoing(type: "newQuestion", id: incoming.id ?? "", content: content)
                try await session.send(.message(.text, Array(try JSONEncoder().encode(question))))
            case "questionResponse" where incoming.success == true:
                await session.cancel(with: .goingAway)
                return (
                    incoming.id.flatMap(UUID.init(uuidString:)), String(decoding: bytes, as: UTF8.self),
                    incoming.message ?? "The question is stored."
                )
            case "questionResponse", "error":
                await session.cancel(with: .goingAway)
                throw ClientError.sentAway(incoming.message ?? incoming.reason ?? "the question wasn't stored")
            default: continue
            }
        }
        throw Task.isCancelled ? ClientError.cancelled : .closed(.normal, reason: "the question may not be stored")
    }

    /// Votes for a question. Each device has one vote for each question, so a repeated vote has no effect.
    ///
    /// ```swift
    /// try await questions.vote(for: question.id)
    /// ```
    public func vote(for question: UUID) async throws {
        try await send(Outgoing(type: "vote", questionId: question))
    }

    /// Withdraws a vote.
    ///
    /// ```swift
    /// try await questions.withdrawVote(for: question.id)
    /// ```
    public func withdrawVote(for question: UUID) async throws {
        try await send(Outgoing(type: "unvote", questionId: question))
    }

    private func send(_ message: Outgoing) async throws {
        try await live.send(.message(.text, Array(try JSONEncoder().encode(message))))
    }

    /// The session's events in order, for one reader, as in ``Room/events``.
    ///
    /// ```swift
    /// for try await event in questions.events { update(event) }
    /// ```
    public var events: AsyncThrowingStream<Event, any Error> {
        let reading = EventReading(live)
        // The stream keeps the session alive.
        return AsyncThrowingStream { [self] in try await next(reading)?.event }
    }

    /// The events with the server's JSON.
    package var items: AsyncThrowingStream<Item, any Error> {
        let reading = EventReading(live)
        return AsyncThrowingStream { [self] in try await next(reading) }
    }

    private func next(_ reading: EventReading) async throws -> Item? {
        while let event = try await reading.next() {
            switch event {
            case .waiting(let wait): return Item(event: .waiting(wait), source: nil)
            case .closed(let code): return Item(event: .closed(code), source: nil)
            case .received(.message(_, let bytes)):
                guard let incoming = try? WireDate.decoder.decode(Incoming.self, from: Data(bytes)),
                    let event = Self.event(incoming)
                else { continue }
                return Item(event: event, source: String(decoding: bytes, as: UTF8.self))
            case .opened, .received: continue
            }
        }
        return nil
    }

    private static func event(_ message: Incoming) -> Event? {
        switch message.type {
        case "handshake": .entered
        case "questions": .list(message.questions ?? [], hasMore: message.more ?? false)
        case "question": message.question.map { .changed($0) }
        case "questionRemoved": message.questionId.map { .removed($0) }
        case "questionAnswer": message.questionId.map { .answered($0) }
        case "announcement": .announced(message.content ?? "")
        case "session": .state(isOpen: message.state == "open")
        case "presence": message.data?.count.map { .presence(count: $0) }
        case "error": .refused(message.reason ?? "")
        default: nil
        }
    }

    /// Leaves the session, and returns when the connection has ended. The events end, too.
    ///
    /// ```swift
    /// await questions.leave()
    /// ```
    public func leave() async {
        await live.cancel(with: .goingAway)
    }
}
