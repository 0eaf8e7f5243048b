#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A WebSocket whose messages are JSON, and that is made again when it is lost.
///
/// The connection begins with the first event that is asked for, or the first message that is sent. Pings are answered. A server
/// that says nothing is pinged after 22.5 s, and counts as lost after 45 s.
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
    /// What happens on the socket.
    ///
    /// ```swift
    /// if case .waiting(let wait) = event { print("lost; again in \(wait)") }
    /// ```
    public enum Event: Sendable {
        /// The server took us in: `case .opened: print("open")`
        case opened
        /// A message: `case .message(let answer): print(answer)`
        case message(In)
        /// A message that is no `In`: `case .undecodable(let data): print(data.count)`
        case undecodable(Data)
        /// There is no connection, and the next attempt is due: `case .waiting(let wait): print(wait)`
        case waiting(Duration)
        /// The connection has ended: `case .closed(let code): print(code)`
        case closed(CloseCode)
    }

    private let session: LinkSession

    /// A socket to this path of the server.
    ///
    /// ```swift
    /// let socket = WebSocketClient<Answer, Question>(server, path: "/live?name=ada", subprotocols: ["v1"])
    /// ```
    ///
    /// - Parameter path: With its query, percent-encoded.
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

    /// What happens, in order, for one reader. 1,024 events wait for it; one more ends the stream with
    /// ``ClientError/bufferFull``. Cancelling the reading task cancels the socket.
    ///
    /// ```swift
    /// for try await case .message(let answer) in socket.events { print(answer) }
    /// ```
    public nonisolated var events: AsyncThrowingStream<Event, any Error> {
        let reading = reading()
        // The stream holds the socket.
        return AsyncThrowingStream { [self] in try await next(reading) }
    }

    nonisolated func reading() -> EventReading { EventReading(session) }

    /// The next event; `nil` at the end.
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

    /// Sends a message; without a connection as soon as there is one.
    ///
    /// ```swift
    /// try await socket.send(Question(text: "Why?"), as: .text)
    /// ```
    public func send(_ message: Out, as opcode: Opcode = .binary) async throws {
        let bytes = try Array(JSONEncoder().encode(message))
        try await session.send(.message(opcode, bytes))
    }

    /// How long a ping takes there and back.
    ///
    /// ```swift
    /// print(try await socket.ping())  // 0.0004 seconds
    /// ```
    public func ping() async throws -> Duration {
        try await session.ping()
    }

    /// Says goodbye, and returns when the server has said it too, after five seconds at most. Every stream ends.
    ///
    /// ```swift
    /// await socket.cancel()
    /// ```
    public func cancel(with code: CloseCode = .goingAway) async {
        await session.cancel(with: code)
    }
}
