import Wire

/// What a connection of HTTP/1.1 is at. A value: what happens goes in, and what is to be done about it comes out;
/// ``HTTPConnection`` does it.
///
/// | state     | what comes                 | next state                             | deadline                    |
/// |-----------|----------------------------|----------------------------------------|-----------------------------|
/// | idle      | the beginning of a request | in head                                | header                      |
/// |           | FIN, or the server's end   | over                                   |                             |
/// |           | nothing in time            | over                                   | keep-alive; at first header |
/// | in head   | the rest of it             | in body                                | body, if there is one       |
/// |           | nothing in time, or wrong  | over, with 408 or 4xx                  |                             |
/// | in body   | the end of the request     | answering                              | none                        |
/// |           | nothing in time, or wrong  | over, with 408 or 4xx                  |                             |
/// | answering | the answer                 | idle, draining, over or streaming      |                             |
/// |           | a task that will have it   | awaiting                               | none                        |
/// |           | a WebSocket's beginning    | over, as another's socket              |                             |
/// | awaiting  | what the task has found    | answering                              | none                        |
/// | streaming | its end                    | idle, draining or over                 | write, while bytes wait     |
/// |           | FIN, or much of anything   | over                                   |                             |
/// | draining  | the peer took all of it    | idle                                   | write                       |
/// | over      |                            |                                        | write                       |
///
/// - Parameters:
///   - Ticket: Stands for the task that an answer is awaited from.
///   - Stream: What writes an answer bit by bit.
enum HTTPConnectionState<Ticket, Stream> {
    /// Between requests.
    case idle(since: HTTPConnectionPause)
    /// Some of a request has come, and not all of its head.
    case inHead(since: HTTPConnectionPause)
    /// The head has come, and of the content so much.
    case inBody(HTTPRequestHead, [UInt8])
    /// The request is whole. No turn of the loop ends so.
    case answering
    /// A task works on the answer.
    case awaiting(Ticket)
    case streaming(Stream, isChunked: Bool, keepsAlive: Bool)
    /// The peer has yet to take answers before the next request is read.
    case draining
    /// No more requests: the last answer is on its way.
    case over

    /// What the peer sends is read.
    var isReading: Bool {
        switch self {
        case .idle, .inHead, .inBody: true
        case .answering, .awaiting, .streaming, .draining, .over: false
        }
    }

    // MARK: A request

    /// All that has come was parsed, of a head too: the parser has no event for one that isn't whole.
    ///
    /// - Parameter isInHead: Some of a head has come.
    /// - Returns: The limit that counts from now; `nil`: as it was.
    mutating func parsed(isInHead: Bool) -> TimeLimit? {
        switch (self, isInHead) {
        case (.idle(let pause), true):
            self = .inHead(since: pause)
            // That of a new connection counts from its beginning.
            return pause == .answer ? .header : nil
        case (.inHead(let pause), false):
            // It was the empty line that some send behind a request.
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
        // The content is ours alone while it grows, or it would be copied.
        self = .answering
        content.append(contentsOf: bytes)
        self = .inBody(head, content)
    }

    /// The request is whole. The handler has time limits of its own: those of what it waits for.
    mutating func takeRequest() -> (head: HTTPRequestHead, content: [UInt8])? {
        guard case .inBody(let head, let content) = self else { return nil }
        self = .answering
        return (head, content)
    }

    // MARK: Its answer

    /// All of the answer is enqueued.
    ///
    /// - Parameter isTaken: The peer has taken so much of it and of those before that there is room for another.
    mutating func answered(keepsAlive: Bool, isTaken: Bool) {
        if !keepsAlive {
            self = .over
        } else if isTaken {
            self = .idle(since: .answer)
        } else {
            self = .draining
        }
    }

    /// The peer has taken all that was sent.
    ///
    /// - Returns: Whether the next request is to be read now.
    mutating func drained() -> Bool {
        guard case .draining = self else { return false }
        self = .idle(since: .answer)
        return true
    }

    // MARK: Nothing comes

    /// All that has come was read.
    func waits(peerHasEnded: Bool, serverStops: Bool) -> HTTPConnectionWait {
        // Every answer is out or on its way, and the peer has no more requests. (Whoever closes in the midst of one takes it
        // back.)
        if peerHasEnded { return .end }
        guard case .idle(let pause) = self else { return .goOn(nil) }
        if serverStops { return .end }
        // A new connection has the time of a head, whatever comes before that.
        return .goOn(pause == .answer ? .keepAlive : nil)
    }

    /// The time is over that it had.
    ///
    /// - Parameter isTaken: The peer has taken all that was sent.
    /// - Returns: Which time that was, and what becomes of the connection; `nil` when it had no limit.
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

    /// What becomes of the connection when the server stops; `nil`: it goes on to its answer's end.
    var endingWithServer: HTTPConnectionEnding? {
        switch self {
        case .idle: .finish
        case .streaming: .finishStream
        case .inHead, .inBody, .answering, .awaiting, .draining, .over: nil
        }
    }
}

/// Since when a peer has asked for nothing.
enum HTTPConnectionPause {
    case connection
    case answer
}

enum HTTPConnectionWait: Equatable {
    /// For as long as this limit allows from now; `nil`: as it was.
    case goOn(TimeLimit?)
    case end
}

/// How a connection ends.
enum HTTPConnectionEnding {
    /// What is enqueued is sent.
    case finish
    /// An answer says that the request came late.
    case refuse
    /// At once: nobody takes what is sent.
    case close
    /// At once: the peer is too slow for what it asked for.
    case cutOff
    /// The stream's last piece is sent.
    case finishStream
}
