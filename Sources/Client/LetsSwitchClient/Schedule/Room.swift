#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The room of a match. Its members receive each other's cheers.
///
/// The client enters the room when the first event is requested or the first cheer is sent. If the room isn't open yet,
/// the client waits. The client leaves with ``leave()``, or when the room is released.
///
/// ```swift
/// let room = client.room(task.roomID, task: task.id)
/// try await room.cheer(.clap)
/// for try await event in room.events {
///     if case .ale = event { print("cheers!") }
/// }
/// ```
public final class Room: Sendable {
    /// An event of a room: `if case .ale = event { … }`
    public enum Event: Sendable, Hashable {
        /// The client is in the room: `case .entered: print("in")`
        case entered
        /// Another member cheers: `case .ale(let cheer): print(cheer)`
        case ale(Cheer)
        /// The members of the room. They come at first and after each change: `case .presence(let presence):
        /// print(presence.count)`
        case presence(Presence)
        /// The task moves to another room: `case .rematched(let rematch): print(rematch.roomID)`
        case rematched(Rematch)
        /// The server didn't understand a message of this client: `case .misunderstood(let reason): print(reason)`
        case misunderstood(String)
        /// There is no connection. The client tries to connect again after this time: `case .waiting(let wait):
        /// print(wait)`
        case waiting(Duration)
        /// The connection has ended. With ``CloseCode/normal`` the room is closed: `case .closed(let code):
        /// print(code)`
        case closed(CloseCode)
    }

    /// A move to another room. Either the partner didn't come and another person becomes the partner, or this device
    /// came too late.
    ///
    /// ```swift
    /// if case .rematched(let rematch) = event { room = client.room(rematch.roomID, task: rematch.taskID) }
    /// ```
    public struct Rematch: Sendable, Hashable {
        /// The new room: `client.room(rematch.roomID, task: rematch.taskID)`
        public let roomID: UUID
        /// The task that moves: `rematch.taskID == task.id`
        public let taskID: UUID
        /// The new partner's title, or `nil` while the task has no partner: `rematch.partnerTitle`
        public let partnerTitle: String?
    }

    /// An event of the room, and the server's JSON if the event comes from the server.
    package struct Item: Sendable {
        package let event: Event?
        package let source: String?
    }

    /// The room's id: `room.id`
    public let id: UUID
    private let session: LinkSession

    struct Incoming: Decodable, Sendable {
        let type: String
        let reason: String?
        let kind: String?
        let data: People?
        let roomId: UUID?
        let taskId: UUID?
        let partnerTask: String?

        struct People: Decodable, Sendable {
            let count: Int?
            let partner: String?
        }
    }

    private struct Outgoing: Encodable {
        let type = "ale"
        let id: String
        let kind: String?
    }

    init(_ id: UUID, task: UUID?, _ requests: DeviceRequests, time: ClientTime = .system) {
        self.id = id
        let whose = task.map { "&taskId=\($0.uuidString)" } ?? ""
        let request = ClientRequest(
            target: "/socket?id=\(id.uuidString)\(whose)&presence=true", fields: requests.fields)
        session = LinkSession(requests.reconnect, silence: .seconds(45), time: time) { _ throws(ClientError) in
            try await requests.transport.webSocket(request, subprotocols: [])
        }
    }

    deinit {
        let session = session
        Task { await session.cancel(with: .goingAway) }
    }

    /// The room's events in order, for one reader, as in ``WebSocketClient/events``. They end when the room closes.
    ///
    /// ```swift
    /// for try await case .ale in room.events { print("cheers!") }
    /// ```
    public var events: AsyncThrowingStream<Event, any Error> {
        let reading = EventReading(session)
        // The stream keeps the room alive.
        return AsyncThrowingStream { [self] in
            while let item = try await next(reading) { if let event = item.event { return event } }
            return nil
        }
    }

    /// The events with the server's JSON.
    package var items: AsyncThrowingStream<Item, any Error> {
        let reading = EventReading(session)
        return AsyncThrowingStream { [self] in try await next(reading) }
    }

    private func next(_ reading: EventReading) async throws -> Item? {
        while let event = try await reading.next() {
            switch event {
            case .waiting(let wait): return Item(event: .waiting(wait), source: nil)
            case .closed(let code): return Item(event: .closed(code), source: nil)
            case .received(.message(_, let bytes)):
                let message = try? JSONDecoder().decode(Incoming.self, from: Data(bytes))
                return Item(event: message.flatMap(Self.event), source: String(decoding: bytes, as: UTF8.self))
            case .opened, .received: continue
            }
        }
        return nil
    }

    private static func event(_ message: Incoming) -> Event? {
        switch message.type {
        case "handshake": return .entered
        case "aleResponse": return .ale(Cheer(named: message.kind))
        case "presence":
            let partner = message.data?.partner.flatMap(Presence.Partner.init(rawValue:))
            return .presence(Presence(count: message.data?.count ?? 0, partner: partner))
        case "rematched":
            guard let room = message.roomId, let task = message.taskId else { return nil }
            return .rematched(Rematch(roomID: room, taskID: task, partnerTitle: message.partnerTask))
        case "error": return .misunderstood(message.reason ?? "")
        default: return nil
        }
    }

    /// Sends a cheer to all other members of the room.
    ///
    /// ```swift
    /// try await room.cheer()
    /// try await room.cheer(.fire)
    /// ```
    public func cheer(_ cheer: Cheer = .plain) async throws {
        let ale = Outgoing(id: id.uuidString, kind: cheer.name)
        try await session.send(.message(.text, Array(try JSONEncoder().encode(ale))))
    }

    /// Leaves the room, and returns when the connection has ended. The events end, too.
    ///
    /// ```swift
    /// await room.leave()
    /// ```
    public func leave() async {
        await session.cancel(with: .goingAway)
    }
}
