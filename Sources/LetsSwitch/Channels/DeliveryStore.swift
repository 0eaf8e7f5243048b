package import Basics
import Domain
package import FoundationEssentials
package import Postgres
package import Rooms

/// What is to be sent, in the database. Every operation is one statement. Throws `PostgresError`.
///
///     NOTIFY letsswitch_deliveries  payload: the channel that has something to send which nobody was woken for
package struct DeliveryStore: Sendable {
    package static let channel = "letsswitch_deliveries"

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// What a lease gave.
    package struct Leased: Sendable {
        package var deliveries: [Delivery] = []
        /// Rows whose deadline has passed; they are gone already.
        package var expired = 0
        /// Ids of those that there is nobody any more to send to; to be finished as dropped.
        package var orphans: [Int] = []

        package var count: Int { deliveries.count + expired + orphans.count }
    }

    /// This daemon serves the channel from now on: whoever claims a task writes its deliveries.
    ///
    /// - Returns: The number of the start.
    package func start(_ channel: ChannelName) async throws -> Int {
        try await database.query(DeliveryStatements.startProvider, [.text(channel.rawValue)], timeout: nil)[0]
            .integer("start")
    }

    /// The channel's server wants nothing any more of the daemon with this start.
    ///
    /// - Returns: Whether nothing is written for the channel from now on. Otherwise a daemon that has started with it since serves it.
    package func turnAway(_ channel: ChannelName, start: Int) async throws -> Bool {
        try await database.query(
            DeliveryStatements.turnAway, [.text(channel.rawValue), .integer(start)], timeout: nil)[0].boolean("is_off")
    }

    /// Takes a channel's deliveries that are due, the longest due first, for the time of `lease`.
    func lease(_ channel: ChannelName, _ limits: LeaseLimits, for lease: Duration) async throws -> Leased {
        let rows = try await database.query(
            DeliveryStatements.lease,
            [
                .text(channel.rawValue), .integer(limits.urgent), .integer(limits.others),
                .double(lease / .seconds(1)),
            ], timeout: nil)
        var leased = Leased()
        for row in rows {
            switch try row.string("verdict") {
            case "send": leased.deliveries.append(try Delivery(row, channel))
            case "expired": leased.expired += 1
            default: leased.orphans.append(try row.integer("id"))
            }
        }
        return leased
    }

    /// Keeps what is in hand for another `lease`.
    ///
    /// - Returns: The ids of what is kept. What isn't is somebody else's by now, or done with.
    package func renew(_ deliveries: [Delivery], for lease: Duration) async throws -> [Int] {
        let rows = try await database.query(
            DeliveryStatements.renew,
            [
                .textArray(deliveries.map { "\($0.id)" }), .textArray(deliveries.map { "\($0.attempt)" }),
                .double(lease / .seconds(1)),
            ], timeout: nil)
        return try rows.map { try $0.integer("id") }
    }

    /// Writes what became of deliveries.
    ///
    /// - Returns: The reminders that are delivered by it, and weren't before.
    package func finish(_ settled: [SettledDelivery]) async throws -> [UUID] {
        var accepted: [String?] = []
        var dropped: [String?] = []
        var gone: [String?] = []
        var again: (ids: [String?], attempts: [String?], begun: [String?], delays: [String?]) = ([], [], [], [])
        for settled in settled {
            let id = "\(settled.id)"
            switch settled.settlement {
            case .accepted: accepted.append(id)
            case .dropped: dropped.append(id)
            case .gone: gone.append(id)
            case .again(let delay, let counts):
                again.ids.append(id)
                again.attempts.append("\(settled.attempt)")
                again.begun.append(counts ? "t" : "f")
                again.delays.append("\(delay / .seconds(1))")
            }
        }
        let rows = try await database.query(
            DeliveryStatements.finish,
            [
                .textArray(accepted), .textArray(dropped), .textArray(gone), .textArray(again.ids),
                .textArray(again.attempts), .textArray(again.begun), .textArray(again.delays),
            ], timeout: nil)
        return try rows.map { try $0.uuid("reminder_id") }
    }

    /// Writes that peers came and went; those of one room in their order. A report that was written before, by its number, is not
    /// written again.
    package func report(_ events: [PresenceEvent], by writer: UUID, number: Int, at now: MonotonicTime) async throws {
        _ = try await database.query(
            DeliveryStatements.reportPeers,
            [
                .text(writer.uuidString), .integer(number),
                .textArray(events.map { $0.kind == .joined ? "room.joined" : "room.left" }),
                .textArray(events.map(\.room.uuidString)),
                .textArray(events.map { $0.claimedIdentity?.uuidString }), .textArray(events.map { "\($0.peers)" }),
                .textArray(events.map { "\(max(.zero, now - $0.at) / .seconds(1))" }),
            ], timeout: nil)
    }

    /// When the channel has something to do; what is in somebody's hands, when its lease ends.
    package func next(_ channel: ChannelName) async throws -> NextDelivery {
        let row = try await database.query(DeliveryStatements.next, [.text(channel.rawValue)], timeout: nil)[0]
        return NextDelivery(
            urgent: try row.optionalDouble("urgent"), others: try row.optionalDouble("others"),
            now: try row.double("now"), waiting: try row.integer("waiting"))
    }

    /// Deletes the channel's oldest deliveries, up to `limit`, as far as they aren't among the `keep` newest of all channels.
    ///
    /// - Returns: How many.
    package func drop(_ channel: ChannelName, keep: Int, limit: Int) async throws -> Int {
        let rows = try await database.query(
            DeliveryStatements.drop, [.text(channel.rawValue), .integer(keep), .integer(limit)], timeout: nil)
        return try rows[0].integer("dropped")
    }

    /// Deletes up to `limit` deliveries of a channel that was turned away.
    ///
    /// - Returns: How many; 0 also when a daemon has started with it again.
    package func clear(_ channel: ChannelName, limit: Int) async throws -> Int {
        try await database.query(
            DeliveryStatements.clear, [.text(channel.rawValue), .integer(limit)], timeout: nil)[0].integer("cleared")
    }
}

/// When a channel has something to do, and how much. Epoch seconds, by the database's clock.
package struct NextDelivery: Sendable, Hashable {
    package let urgent: Double?
    package let others: Double?
    package let now: Double
    /// Counted to 10,000.
    package let waiting: Int

    /// The earlier of the two, of those kinds that may be leased.
    func due(within limits: LeaseLimits) -> Double? {
        [limits.urgent > 0 ? urgent : nil, limits.others > 0 ? others : nil].compactMap(\.self).min()
    }
}

/// A delivery and what is done about it.
package struct SettledDelivery: Sendable, Hashable {
    let id: Int
    let attempt: Int
    let settlement: Settlement
}

extension Delivery {
    init(_ row: PostgresRow, _ channel: ChannelName) throws {
        id = try row.integer("id")
        self.channel = channel
        event = try row.string("type")
        messageId = try row.uuid("message_id")
        happenedAt = try row.double("happened_at")
        deadline = try row.double("deadline")
        asOf = try row.double("now")
        attempt = try row.integer("attempt")
        address = try row.optionalString("address") ?? ""
        details = try row.optionalString("details") ?? ""
        registeredAt = try row.optionalDouble("registered_at") ?? 0
        let reminder = try row.optionalString("payload")
        // A reminder to an address isn't an event.
        if let data = try EventData(row) {
            payload = data.json(event, reminder: reminder)
        } else {
            payload = reminder ?? "{}"
        }
        reminderId = reminder == nil ? nil : messageId
        taskId = reminder == nil ? nil : try row.optionalUUID("task_id")
        title = try row.optionalString("title")
        partnerTask = try row.optionalString("partner_task")
        startTime = try row.optionalString("start_time")
        timeZone = try row.optionalString("time_zone")
        startsAt = try row.optionalInteger("starts_at").map { Instant(seconds: $0) }
        roomId = try row.optionalUUID("room_id")
    }
}
