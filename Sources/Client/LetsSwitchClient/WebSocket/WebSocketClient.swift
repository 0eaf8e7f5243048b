#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A WebSocket with JSON messages, which connects again when the connection is lost.
///
/// The client connects when the first event is requested or the first message is sent. It answers pings. If the server
/// sends nothing, the client sends a ping after 22.5 s. The connection counts as lost after 45 s.
///
/// ```swift
/// let socket = WebSocketClient<Answer, Question>(server, path: "/live")
/// for try await event in socket.events {
///     switch event {
///     case .opened: try await socket.send(Question(text: "Why?"))
///     case .message(let answer): print(answer)
///     case .undecodable, .waiting, .closed: break
///     }
/// }
/// ```
public actor WebSocketClient<In: Decodable & Sendable, Out: Encodable & Sendable> {
    /// An event of the socket.
    ///
    /// ```swift
    /// if case .waiting(let wait) = event { print("connecting again in \(wait)") }
    /// ```
    public enum Event: Sendable {
        /// The socket is open: `case .opened: print("open")`
        case opened
        /// A message: `case .message(let answer): print(answer)`
        case message(In)
        /// A message that can't be decoded as `In`: `case .undecodable(let data): print(data.count)`
        case undecodable(Data)
        /// There is no connection. The client tries to connect again after this time: `case .waiting(let wait):
        /// print(wait)`
        case waiting(Duration)
        /// The connection has ended: `case .closed(let code): print(code)`
        case closed(CloseCode)
    }

    private let session: LinkSession

    /// Creates a socket to a path of the server.
    ///
    /// ```swift
    /// let socket = WebSocketClient<Answer, Question>(server, path: "/live?name=ada", subprotocols: ["v1"])
    /// ```
    ///
    /// - Parameter path: The path and query, percent-encoded.
    public init(
        _ server: ServerAddress, path: String, subprotocols: [String] = [], reconnect: ReconnectPolicy = .default
    ) {
        self.init(systemTransport(to: server), path: path, subprotocols: subprotocols, reconnect: reconnect)
    }

    init(
        _ transport: any Transport, path: String, subprotocols: [String] = [], fields: [ClientField] = [],
        reconnect: ReconnectPolicy = .default, time: ClientTime = .system
    ) {
        let request = ClientRequest(target: path, fields: fields)
        session = LinkSession(reconnect, silence: .seconds(45), time: time) { _ throws(ClientError) in
            try await transport.webSocket(request, subprotocols: subprotocols)
        }
    }

    deinit {
        let session = session
        Task { await session.cancel(with: .goingAway) }
    }

    /// The socket's events in order, for one reader. At most 1,024 events wait for the reader. One more event ends the
    /// stream with ``ClientError/bufferFull``. Cancelling the reading task cancels the socket.
    ///
    /// ```swift
    /// for try await case .message(let answer) in socket.events { print(answer) }
    /// ```
    public nonisolated var events: AsyncThrowingStream<Event, any Error> {
        let reading = reading()
        // The stream keeps the socket alive.
        return AsyncThrowingStream { [self] in try await next(reading) }
    }

    nonisolated func reading() -> EventReading { EventReading(session) }

    /// Returns the next event, or `nil` at the end.
    nonisolated func next(_ reading: EventReading) async throws -> Event? {
        while let event = try await reading.next() {
            switch event {
            case .opened: return .opened
            case .waiting(let wait): return .waiting(wait)
            case .closed(let code): return .closed(code)
            case .received(.message(_, let bytes)): return Self.decode(bytes)
            case .received: continue
            }
        }
        return nil
    }

    private static func decode(_ bytes: [UInt8]) -> Event {
        let data = Data(bytes)
        return (try? WireDate.decoder.decode(In.self, from: data)).map(Event.message) ?? .undecodable(data)
    }

    /// Sends a message. Without a connection, the message waits until there is one.
    ///
    /// ```swift
    /// try await socket.send(Question(text: "Why?"), as: .text)
    /// ```
    public func send(_ message: Out, as opcode: Opcode = .binary) async throws {
        let bytes = try Array(JSONEncoder().encode(message))
        try await session.send(.message(opcode, bytes))
    }

    /// Returns the round-trip time of a ping.
    ///
    /// ```swift
    /// print(try await socket.ping())  // 0.0004 seconds
    /// ```
    public func ping() async throws -> Duration {
        try await session.ping()
    }

    /// Closes the socket, and returns when the server has closed it too, or after five seconds. All streams end.
    ///
    /// ```swift
    /// await socket.cancel()
    /// ```
    public func cancel(with code: CloseCode = .goingAway) async {
        await session.cancel(with: code)
    }
}
