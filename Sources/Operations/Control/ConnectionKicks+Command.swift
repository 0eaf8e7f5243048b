import Domain
import Postgres
import Server
import Wire

extension ConnectionKicks {
    /// Ends the connections that an operator names by a connection's number, a device or its tag, or an address. Shows
    /// the connections that ended on this daemon, and notifies the other daemons.
    ///
    /// - Parameter others: Returns the number of other daemons on the database.
    /// - Returns: The number of connections that this daemon ended.
    func run(_ target: String, others: () -> Int, _ reply: ControlReply) async throws -> Int {
        func show(_ ended: [ConnectionRecord]) -> Int {
            for record in ended { reply.row(record.write) }
            return ended.count
        }
        if let number = UInt64(target) {
            // A device id can look like the number of another device's connection.
            let ended = await end(number: number)
            if !ended.isEmpty { return show(ended) }
        }
        var count = show(await end(named: target))
        // The log shows this tag instead of the device id.
        let tag = DeviceTag(text: target)
        var tagged: Set<DeviceID> = []
        if let tag {
            tagged = await devices(tag, .own)
            for device in tagged { count += show(await end(device)) }
        }
        do {
            if let device = try? DeviceID(target) { count += show(try await endInRooms(of: device)) }
            try await notifyDaemons(.named(target))
            if let tag {
                if tagged.isEmpty { tagged = try await devicesInRooms(tag, .own) }
                for device in tagged {
                    count += show(try await endInRooms(of: device))
                    try await notifyDaemons(.device(device))
                }
                // The device may be connected to a different daemon now.
                if tagged.isEmpty { try await notifyDaemons(.tagged(tag, .own)) }
            }
        } catch let error as PostgresError where error.isUnavailable {
            throw ControlFailure(
                "the database is unavailable: connections in rooms and on other daemons may still be open (\(count) ended)"
            )
        }
        let others = others()
        if others > 0 { reply.note("other daemons that were asked to do the same, and don't report back: \(others)") }
        guard count + others > 0 else {
            throw ControlFailure("no connection has this number, device or address")
        }
        return count
    }
}
