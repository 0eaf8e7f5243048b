import Basics
import Delivery
import Domain
import FoundationEssentials
import Glibc
import Rooms
import Scheduling
import Server
import Settings
import Wire

/// What operators' commands come to in this daemon.
struct DaemonControl: ControlActions {
    /// Connections that are shown at most.
    private static let mostRows = 10_000

    let application: Application
    let rooms: Rooms
    let streams: EventStreams
    let deliveries: DeliveryService
    let schedule: ScheduleSettings
    /// Ends a room in the database.
    let closeRoom: @Sendable (UUID) async throws -> RoomClosing
    /// All that is stored of a device, as JSON on one line.
    let export: @Sendable (DeviceID) async throws -> String
    let eraser: DeviceEraser

    func perform(_ order: ControlOrder, _ reply: ControlReply) async throws {
        switch order {
        case .connections:
            for record in await application.connections(limit: Self.mostRows) { reply.row(record.write) }
        case .close(let room): try await close(room, reply)
        case .kick(let target): try await kick(target, reply)
        case .drain(let rate): try await drain(rate, reply)
        case .remind(let device): try await remind(device, reply)
        case .export(let device): reply.write(Array(try await export(device).utf8))
        case .erase(let device):
            try await eraser.erase(device)
            reply.row { $0.member("erased", true) }
        }
    }

    private func close(_ room: UUID, _ reply: ControlReply) async throws {
        // With rooms that anybody makes up, the database knows of none. Before it tells, or they would be gone.
        let inside = await application.connections(limit: .max).filter { $0.facts.place == room.uuidString }.count
        let closing = try await closeRoom(room)
        switch closing {
        case .closed: break
        case .notOpen: throw ControlFailure("the room isn't open yet")
        case .over where inside == 0: throw ControlFailure("the room is over")
        case .unknown where inside == 0: throw ControlFailure("there is no such room")
        case .over, .unknown: break
        }
        rooms.close([room])
        reply.row { row in
            row.member("room", room.uuidString)
            row.member("connections", inside)
        }
    }

    private func kick(_ target: String, _ reply: ControlReply) async throws {
        if let id = UInt64(target) {
            // A device may be called like another's number.
            let ended = await application.endConnections { $0.id == id }
            guard ended.isEmpty else {
                for record in ended { reply.row(record.write) }
                return
            }
        }
        let address = IPAddress(target)
        let ended = await application.endConnections { record in
            if let address, let own = record.address {
                // Of one that a proxy has named only the network is known.
                return own == address || (own == own.subscriber && own == address.subscriber)
            }
            guard let owner = record.facts.owner else { return false }
            return owner.utf8.elementsEqual(target.utf8) || DeviceTag(owner).description == target
        }
        guard !ended.isEmpty else { throw ControlFailure("nobody is connected by that number, name or address") }
        for record in ended { reply.row(record.write) }
    }

    /// A task that starts when it would if it were reminded of now, and that nobody has.
    private func remind(_ device: DeviceID, _ reply: ControlReply) async throws {
        let now = Double(time(nil))
        let start = Instant(seconds: Int(now + schedule.reminderLead / .seconds(1)))
        let content = ReminderContent(
            id: UUID(), taskId: UUID(), title: "A test, by who runs this server", startsAt: start,
            startTime: String(start.description.dropFirst(11).prefix(5)), timeZone: "UTC", roomId: nil,
            partnerTask: nil,
            isTest: true)
        let listening = await streams.test(content, to: device)
        reply.row { row in
            row.member("way", "stream")
            row.member("outcome", listening > 0 ? "sent" : "nobody listens here")
            row.member("count", listening)
        }
        try await deliveries.test(content, to: device, at: now) { test in
            reply.row { row in
                row.member("way", test.provider.rawValue)
                row.member("outcome", test.outcome.rawValue)
                row.member("reason", test.reason)
            }
        }
    }

    /// Those who watch the daemon go on watching it.
    private func drain(_ rate: Int, _ reply: ControlReply) async throws {
        await application.beginDrain(keeping: .operators)
        while true {
            let left = await application.endSome(rate, keeping: .operators)
            reply.row { $0.member("left", left) }
            guard left > 0 else { return }
            try await Task.sleep(for: .seconds(1))
        }
    }
}

/// Why a command wasn't done.
struct ControlFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension ConnectionRecord {
    /// The columns of a table of them.
    static let columns: [InspectionQuery.Column] = [
        .number("connection"), .text("kind"), .text("purpose"), .text("address"), .text("device"), .text("place"),
        .number("unsent"),
    ]

    func write(to object: inout JSONText) {
        object.member("connection", Int(clamping: id))
        object.member("kind", kind.rawValue)
        object.member("purpose", facts.purpose)
        object.member("address", address?.description)
        // As the log has it: whoever knows a device's own name may act for it.
        object.member("device", facts.owner.map { DeviceTag($0).description })
        object.member("place", facts.place)
        object.member("unsent", unsentBytes)
    }
}
