import Wire

/// The state of an HTTP/1.1 connection. A value: events go in, actions come out, and ``HTTPConnection`` performs them.
///
/// ```
/// | state     | event                       | next state                        | deadline                    |
/// |-----------|-----------------------------|-----------------------------------|-----------------------------|
/// | idle      | the first bytes of a request| in head                           | header                      |
/// |           | FIN, or the server stops    | over                              |                             |
/// |           | timeout                     | over                              | keep-alive; at first header |
/// | in head   | the rest of the head        | in body                           | body, if there is one       |
/// |           | timeout, or invalid bytes   | over, with 408 or 4xx             |                             |
/// | in body   | the end of the request      | answering                         | none                        |
/// |           | timeout, or invalid bytes   | over, with 408 or 4xx             |                             |
/// | answering | the response                | idle, draining, over or streaming |                             |
/// |           | a task will respond         | awaiting                          | none                        |
/// |           | a WebSocket begins          | over; a new handler has the socket|                             |
/// | awaiting  | the task's result           | answering                         | none                        |
/// | streaming | the end of the stream       | idle, draining or over            | write, while bytes wait     |
/// |           | FIN, or too many bytes      | over                              |                             |
/// | draining  | the peer took everything    | idle                              | write                       |
/// | over      |                             |                                   | write                       |
/// ```
/// - Parameters:
///   - Ticket: The type that represents the responding task.
///   - Stream: The type that writes a streamed response.
enum HTTPConnectionState<Ticket, Stream> {
    /// The connection waits for the next request.
    case idle(since: HTTPConnectionPause)
    /// A part of a request's head has arrived.
    case inHead(since: HTTPConnectionPause)
    /// The head and this part of the content have arrived.
    case inBody(HTTPRequestHead, [UInt8])
    /// The request is complete. This state lasts only within one turn of the loop.
    case answering
    /// A task prepares the response.
    case awaiting(Ticket)
    case streaming(Stream, isChunked: Bool, keepsAlive: Bool)
    /// The peer must take the sent responses before the next request is read.
    case draining
    /// No more requests are read. The last response is being sent.
    case over

    /// Whether received bytes are parsed.
    var isReading: Bool {
        switch self {
        case .idle, .inHead, .inBody: true
        case .answering, .awaiting, .streaming, .draining, .over: false
        }
    }

    // MARK: A request

    /// Handles the end of the received bytes. This is needed because the parser has no event for an incomplete head.
    ///
    /// - Parameter isInHead: Whether a part of a head has arrived.
    /// - Returns: The limit that starts now, or `nil` if the current one continues.
    mutating func parsed(isInHead: Bool) -> TimeLimit? {
        switch (self, isInHead) {
        case (.idle(let pause), true):
            self = .inHead(since: pause)
            // The limit of a new connection started when it was opened.
            return pause == .answer ? .header : nil
        case (.inHead(let pause), false):
            // The bytes were only an empty line, which some clients send after a request.
            self = .idle(since: pause)
            return nil
        default: return nil
        }
    }

    mutating func began(_ head: HTTPRequestHead) -> TimeLimit? {
        self = .inBody(head, [])
        return head.bodyFraming == .none ? nil : .body
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard case .inBody(let head, var content) = self else { return }
        // The state must not refer to the content while the content grows, because each growth would then copy the
        // content.
        self = .answering
        content.append(contentsOf: bytes)
        self = .inBody(head, content)
    }

    /// Takes the complete request. The handler has its own time limits.
    mutating func takeRequest() -> (head: HTTPRequestHead, content: [UInt8])? {
        guard case .inBody(let head, let content) = self else { return nil }
        self = .answering
        return (head, content)
    }

    // MARK: The answer to a request

    /// Handles a response that is completely enqueued.
    ///
    /// - Parameter isTaken: Whether the peer has taken enough bytes, so that another response fits.
    mutating func answered(keepsAlive: Bool, isTaken: Bool) {
        if !keepsAlive {
            self = .over
        } else if isTaken {
            self = .idle(since: .answer)
        } else {
            self = .draining
        }
    }

    /// Handles the event that the peer has taken all bytes.
    ///
    /// - Returns: Whether to read the next request now.
    mutating func drained() -> Bool {
        guard case .draining = self else { return false }
        self = .idle(since: .answer)
        return true
    }

    // MARK: Waiting

    /// Returns how to wait after all input was parsed.
    func waits(peerHasEnded: Bool, serverStops: Bool) -> HTTPConnectionWait {
        // All responses are sent or enqueued, and the peer has no more requests. If a peer ends its side during a
        // request, it withdraws the request.
        if peerHasEnded { return .end }
        guard case .idle(let pause) = self else { return .wait(nil) }
        if serverStops { return .end }
        // A new connection has the time limit of a head. This limit doesn't start again when bytes precede the head.
        return .wait(pause == .answer ? .keepAlive : nil)
    }

    /// Handles a timeout.
    ///
    /// - Parameter isTaken: Whether the peer has taken all bytes.
    /// - Returns: The exceeded limit and how the connection ends, or `nil` if no limit applies.
    func late(isTaken: Bool) -> (limit: TimeLimit, ending: HTTPConnectionEnding)? {
        switch self {
        case _ where isReading && !isTaken: (.write, .close)
        case .idle(.connection): (.header, .finish)
        case .idle(.answer): (.keepAlive, .finish)
        case .inHead: (.header, .refuse)
        case .inBody: (.body, .refuse)
        case .streaming, .draining: (.write, .cutOff)
        case .answering, .awaiting, .over: nil
        }
    }

    /// How the connection ends when the server stops. `nil` if the connection first completes its response.
    var endingWithServer: HTTPConnectionEnding? {
        switch self {
        case .idle: .finish
        case .streaming: .finishStream
        case .inHead, .inBody, .answering, .awaiting, .draining, .over: nil
        }
    }
}

/// The event after which the peer has sent nothing.
enum HTTPConnectionPause {
    case connection
    case answer
}

enum HTTPConnectionWait: Equatable {
    /// Wait until this limit has passed, counted from now. `nil` keeps the current limit.
    case wait(TimeLimit?)
    case end
}

/// How a connection ends.
enum HTTPConnectionEnding {
    /// Send the enqueued bytes, and then close the connection.
    case finish
    /// Send a response that says that the request was too slow.
    case refuse
    /// Close the connection without sending the rest, because the peer takes no bytes.
    case close
    /// Close the connection without sending the rest, because the peer receives its response too slowly.
    case cutOff
    /// Send the last piece of the stream, and then close the connection.
    case finishStream
}
