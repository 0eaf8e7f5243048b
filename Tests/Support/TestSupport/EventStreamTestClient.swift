/// A client of `text/event-stream` (WHATWG HTML §9.2). It decodes events as their bytes arrive.
package actor EventStreamTestClient {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        ClientExecutor.shared.asUnownedSerialExecutor()
    }

    package nonisolated let connection: RawConnection
    /// The head of the server's answer; its body is the stream.
    package nonisolated let response: TestResponse
    private var body: ResponseBodyReader
    private var decoder = EventStreamDecoder()
    /// Received items that weren't read yet, in order.
    private var items: [EventStreamItem] = []
    private let validator: MessageValidation.Validator?

    private init(connection: RawConnection, response: TestResponse, validator: MessageValidation.Validator?) {
        self.connection = connection
        self.response = response
        self.validator = validator
        body = ResponseBodyReader(of: response, to: "GET")
    }

    /// Opens a stream. Throws `StreamRefused` with the whole response unless the answer is `200` and
    /// `text/event-stream`.
    package static func connect(
        to endpoint: ClientEndpoint, _ target: String, lastEventID: String? = nil, headers: TestHeaders = [:],
        receiveBuffer: Int32? = nil, within allowed: Duration = Deadline.standard
    ) async throws -> EventStreamTestClient {
        var headers = headers
        headers.append("Accept", "text/event-stream")
        if let lastEventID { headers.append("Last-Event-ID", lastEventID) }
        let connection = try await RawConnection.connect(
            to: endpoint, receiveBuffer: receiveBuffer, within: allowed)
        let http = HTTPTestClient(over: connection)
        try await http.sendRequest("GET", target, headers: headers, within: allowed)
        var response = try await http.readHead(within: allowed)
        let type = response.headers["Content-Type"]?.lowercased().split(separator: ";").first?.trimmed
        guard response.status == 200, type == "text/event-stream" else {
            var body = ResponseBodyReader(of: response, to: "GET")
            while let piece = try await body.next(from: connection, within: allowed) { response.body += piece }
            await connection.close()
            throw StreamRefused(response: response)
        }
        return EventStreamTestClient(
            connection: connection, response: response, validator: MessageValidation.validator?(target))
    }

    /// Returns the next event. Comments before it stay for `nextComment`.
    package func nextEvent(within allowed: Duration = Deadline.standard) async throws -> StreamedEvent {
        try await next(within: allowed, "an event") { if case .event(let event) = $0 { event } else { nil } }
    }

    /// Returns the next comment without its colon. Events before it stay for `nextEvent`.
    package func nextComment(within allowed: Duration = Deadline.standard) async throws -> String {
        try await next(within: allowed, "a comment") { if case .comment(let text) = $0 { text } else { nil } }
    }

    /// Returns the next item, an event or a comment.
    package func nextItem(within allowed: Duration = Deadline.standard) async throws -> EventStreamItem {
        try await next(within: allowed, "an event or a comment") { $0 }
    }

    /// Waits for the server to end the stream. Keeps the events before the end.
    package func expectEnd(within allowed: Duration = Deadline.standard) async throws {
        let deadline = Deadline(after: allowed)
        do {
            while let bytes = try await nextBytes(until: deadline) { items += try read(bytes) }
        } catch ClientFailure.ended, ClientFailure.reset {
            return
        }
    }

    package func close() async { await connection.close() }

    private func next<Wanted>(
        within allowed: Duration, _ what: String, pick: (EventStreamItem) -> Wanted?
    ) async throws -> Wanted {
        let deadline = Deadline(after: allowed)
        while true {
            for (index, item) in items.enumerated() {
                guard let wanted = pick(item) else { continue }
                items.remove(at: index)
                return wanted
            }
            guard items.count < 100_000 else { throw ClientFailure.violation("100,000 items and none is \(what)") }
            guard let bytes = try await nextBytes(until: deadline) else {
                throw ClientFailure.ended(waitingFor: what, received: "\(items)")
            }
            items += try read(bytes)
        }
    }

    private func read(_ bytes: [UInt8]) throws -> [EventStreamItem] {
        let items = try decoder.decode(bytes)
        for case .event(let event) in items { validator?(event.event, Array(event.data.utf8)) }
        return items
    }

    private func nextBytes(until deadline: Deadline) async throws -> [UInt8]? {
        var reader = body
        defer { body = reader }
        return try await reader.next(from: connection, within: deadline.remaining)
    }
}

/// A response that isn't a stream, although a stream was requested.
package struct StreamRefused: Error, Sendable, Equatable {
    package let response: TestResponse
}
