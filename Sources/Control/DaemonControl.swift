import Basics
package import Delivery
package import Domain
package import FoundationEssentials
import Glibc
package import LiveSchedule
import Postgres
package import Rooms
package import Scheduling
package import Schema
package import Server
package import Settings
import Wire

/// What operators' commands come to in this daemon, and what it has others do.
package struct DaemonControl: ControlActions {
    private let application: Application
    private let rooms: Rooms
    private let streams: EventStreams
    private let deliveries: DeliveryService
    private let schedule: ScheduleSettings
    /// Ends a room in the database.
    private let closeRoom: @Sendable (UUID) async throws -> RoomClosing
    private let exports: ExportStore
    private let functions: FunctionsRevision
    private let erase: @Sendable (DeviceID) async throws -> Void
    private let kicks: ConnectionKicks
    private let drain: ConnectionDrain
    /// How many other daemons are alive on the database.
    private let others: @Sendable () -> Int

    package init(
        application: Application, rooms: Rooms, streams: EventStreams, deliveries: DeliveryService,
        schedule: ScheduleSettings, closeRoom: @escaping @Sendable (UUID) async throws -> RoomClosing,
        exports: ExportStore, functions: FunctionsRevision,
        erase: @escaping @Sendable (DeviceID) async throws -> Void, kicks: ConnectionKicks, drain: ConnectionDrain,
        others: @escaping @Sendable () -> Int
    ) {
        self.application = application
        self.rooms = rooms
        self.streams = streams
        self.deliveries = deliveries
        self.schedule = schedule
        self.closeRoom = closeRoom
        self.exports = exports
        self.functions = functions
        self.erase = erase
        self.kicks = kicks
        self.drain = drain
        self.others = others
    }

    package func perform(_ order: ControlOrder, _ reply: ControlReply) async throws -> Int {
        do {
            return try await act(order, reply)
        } catch let error as PostgresError {
            guard error.meansOtherDefinitions, let revision = try? await functions.newer() else { throw error }
            throw ControlFailure(
                """
                a newer build's functions (\(revision)) stand in the database, and this daemon, which has yet to be upgraded, can't do it \
                by them: ask one that was (\(error.message))
                """)
        }
    }

    private func act(_ order: ControlOrder, _ reply: ControlReply) async throws -> Int {
        switch order {
        case .connections: return try await showConnections(reply)
        case .close(let room): return try await close(room, reply)
        case .kick(let target): return try await kick(target, reply)
        case .drain(let rate):
            noteScope("this drains", reply)
            try await drain.run(perSecond: rate, reply)
        case .remind(let device): try await remind(device, reply)
        case .export(let device): return try await export(device, reply)
        case .erase(let device):
            try await erase(device)
            reply.row { $0.member("erased", true) }
        }
        return 0
    }

    /// Where there are others, which daemon alone a command is about.
    private func noteScope(_ what: String, _ reply: ControlReply) {
        let others = others()
        guard others > 0 else { return }
        reply.note(
            "\(what) daemon \(kicks.daemon) on \(Configuration.machineName) alone; others alive on the database: \(others)"
        )
    }

    private func showConnections(_ reply: ControlReply) async throws -> Int {
        noteScope("this shows", reply)
        var count = 0
        try await application.connections { records in
            for record in records { reply.row(record.write) }
            count += records.count
            try await reply.awaitTaking()
        }
        return count
    }

    private func export(_ device: DeviceID, _ reply: ControlReply) async throws -> Int {
        var count = 0
        try await exports.export(device) { lines in
            for line in lines { reply.write(Array(line.utf8)) }
            count += lines.count
            try await reply.awaitTaking()
        }
        return count
    }

    private func close(_ room: UUID, _ reply: ControlReply) async throws -> Int {
        // With rooms that anybody makes up, the database knows of none. Before it tells, or they would be gone.
        let inside = await application.countConnections(in: room.text)
        do {
            switch try await closeRoom(room) {
            case .closed: break
            case .notOpen: throw ControlFailure("the room isn't open yet")
            case .over where inside == 0: throw ControlFailure("the room is over")
            case .unknown where inside == 0:
                throw ControlFailure(
                    "there is no such room, and nobody in it on this daemon; others were told to end it")
            case .over, .unknown: break
            }
        } catch let error as PostgresError where error.isUnavailable && inside > 0 {
            reply.note("the database is away: the room is ended on this daemon alone")
        }
        rooms.close([room])
        reply.row { row in
            row.member("room", room.text)
            row.member("connections", inside)
        }
        return inside
    }

    private func kick(_ target: String, _ reply: ControlReply) async throws -> Int {
        func show(_ ended: [ConnectionRecord]) -> Int {
            for record in ended { reply.row(record.write) }
            return ended.count
        }
        if let number = UInt64(target) {
            // A device may be called like another's number.
            let ended = await kicks.end(number: number)
            if !ended.isEmpty { return show(ended) }
        }
        var count = show(await kicks.end(named: target))
        // What the log calls a device, too.
        let tag = DeviceTag(text: target)
        var tagged: Set<DeviceID> = []
        if let tag {
            tagged = await kicks.devices(tag, .own)
            for device in tagged { count += show(await kicks.end(device)) }
        }
        do {
            if let device = try? DeviceID(target) { count += show(try await kicks.endInRooms(of: device)) }
            try await kicks.tellOthers(.named(target))
            if let tag {
                if tagged.isEmpty { tagged = try await kicks.devicesInRooms(tag, .own) }
                for device in tagged {
                    count += show(try await kicks.endInRooms(of: device))
                    try await kicks.tellOthers(.device(device))
                }
                // One who has gone to another daemon since.
                if tagged.isEmpty { try await kicks.tellOthers(.tagged(tag, .own)) }
            }
        } catch let error as PostgresError where error.isUnavailable {
            throw ControlFailure(
                "the database is away: rooms' sockets and other daemons may be left out (\(count) ended)")
        }
        let others = others()
        if others > 0 { reply.note("other daemons that were told to do the same, and don't answer: \(others)") }
        guard count + others > 0 else {
            throw ControlFailure("nobody is connected by that number, name or address")
        }
        return count
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
