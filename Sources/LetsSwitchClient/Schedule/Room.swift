#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A match's room: whoever is in it hears the others' cheers.
///
/// It is entered with the first event that is asked for, or the first cheer; before it opens that waits. It is left by
/// ``leave()``, or when nobody holds it any more.
///
/// ```swift
/// let room = client.room(promise.roomID)
/// try await room.cheer()
/// for try await event in room.events {
///     if case .ale = event { print("cheers!") }
/// }
/// ```
public final class Room: Sendable {
    /// What happens in a room: `if case .ale = event { … }`
    public enum Event: Sendable, Hashable {
        /// We are in: `case .entered: print("in")`
        case entered
        /// Somebody else cheers: `case .ale: print("cheers!")`
        case ale
        /// So many are in: `case .presence(let count): print(count)`
        case presence(Int)
        /// The server didn't understand what we said: `case .misunderstood(let reason): print(reason)`
        case misunderstood(String)
        /// There is no connection, and the next attempt is due: `case .waiting(let wait): print(wait)`
        case waiting(Duration)
        /// The connection has ended; with ``CloseCode/normal`` the room is closed: `case .closed(let code): print(code)`
        case closed(CloseCode)
    }

    /// The room's own: `room.id`
    public let id: UUID
    private let socket: WebSocketClient<Incoming, Outgoing>

    struct Incoming: Decodable, Sendable {
        let type: String
        let reason: String?
        let data: Presence?
        struct Presence: Decodable, Sendable { let count: Int? }
    }

    struct Outgoing: Encodable, Sendable {
        let type: String
        let id: String
    }

    init(_ id: UUID, _ socket: WebSocketClient<Incoming, Outgoing>) {
        self.id = id
        self.socket = socket
    }

    /// What happens, in order, for one reader, as in ``WebSocketClient/events``. It ends when the room closes.
    ///
    /// ```swift
    /// for try await case .ale in room.events { print("cheers!") }
    /// ```
    public var events: AsyncThrowingStream<Event, any Error> {
        let reading = socket.reading()
        // The stream holds the room.
        return AsyncThrowingStream { [self] in
            while let event = try await socket.next(reading) {
                switch event {
                case .message(let message): if let event = Self.event(message) { return event }
                case .waiting(let wait): return .waiting(wait)
                case .closed(let code): return .closed(code)
                case .opened, .undecodable: continue
                }
            }
            return nil
        }
    }

    private static func event(_ message: Incoming) -> Event? {
        switch message.type {
        case "handshake": .entered
        case "aleResponse": .ale
        case "presence": .presence(message.data?.count ?? 0)
        case "error": .misunderstood(message.reason ?? "")
        default: nil
        }
    }

    /// Sends an ale: everybody else in the room hears it.
    ///
    /// ```swift
    /// try await room.cheer()
    /// ```
    public func cheer() async throws {
        try await socket.send(Outgoing(type: "ale", id: id.uuidString), as: .text)
    }

    /// Leaves the room, and returns when that is done. The events end.
    ///
    /// ```swift
    /// await room.leave()
    /// ```
    public func leave() async {
        await socket.cancel()
    }
}
