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
/// let room = client.room(promise.roomID, task: promise.id)
/// try await room.cheer(.clap)
/// for try await event in room.events {
///     if case .ale = event { print("cheers!") }
/// }
/// ```
public final class Room: Sendable {
    /// What happens in a room: `if case .ale = event { … }`
    public enum Event: Sendable, Hashable {
        /// We are in: `case .entered: print("in")`
        case entered
        /// Somebody else cheers: `case .ale(let cheer): print(cheer)`
        case ale(Cheer)
        /// Who is in, at first and when it changes: `case .presence(let presence): print(presence.count)`
        case presence(Presence)
        /// This room's time is over, and there is another: `case .rematched(let rematch): print(rematch.roomID)`
        case rematched(Rematch)
        /// The server didn't understand what we said: `case .misunderstood(let reason): print(reason)`
        case misunderstood(String)
        /// There is no connection, and the next attempt is due: `case .waiting(let wait): print(wait)`
        case waiting(Duration)
        /// The connection has ended; with ``CloseCode/normal`` the room is closed: `case .closed(let code): print(code)`
        case closed(CloseCode)
    }

    /// The partner didn't come, and somebody else who waited is the partner; or it was oneself who came too late for the partner.
    ///
    /// ```swift
    /// if case .rematched(let rematch) = event { room = client.room(rematch.roomID, task: rematch.taskID) }
    /// ```
    public struct Rematch: Sendable, Hashable {
        /// Where one is awaited from now on: `client.room(rematch.roomID, task: rematch.taskID)`
        public let roomID: UUID
        /// Whose room that is: `rematch.taskID == promise.id`
        public let taskID: UUID
        /// What the new partner starts; `nil` without one, who may still come: `rematch.partnerTitle`
        public let partnerTitle: String?
    }

    /// What happened, as far as it is known, and the server's own text of it, where it said it.
    package struct Item: Sendable {
        package let event: Event?
        package let source: String?
    }

    /// The room's own: `room.id`
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

    /// What happens, in order, for one reader, as in ``WebSocketClient/events``. It ends when the room closes.
    ///
    /// ```swift
    /// for try await case .ale in room.events { print("cheers!") }
    /// ```
    public var events: AsyncThrowingStream<Event, any Error> {
        let reading = EventReading(session)
        // The stream holds the room.
        return AsyncThrowingStream { [self] in
            while let item = try await next(reading) { if let event = item.event { return event } }
            return nil
        }
    }

    /// The same with what the server said.
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

    /// Sends an ale: everybody else in the room hears it.
    ///
    /// ```swift
    /// try await room.cheer()
    /// try await room.cheer(.fire)
    /// ```
    public func cheer(_ cheer: Cheer = .plain) async throws {
        let ale = Outgoing(id: id.uuidString, kind: cheer.name)
        try await session.send(.message(.text, Array(try JSONEncoder().encode(ale))))
    }

    /// Leaves the room, and returns when that is done. The events end.
    ///
    /// ```swift
    /// await room.leave()
    /// ```
    public func leave() async {
        await session.cancel(with: .goingAway)
    }
}
