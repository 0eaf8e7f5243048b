#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A device's task with a room, read from the device's schedule.
package struct RoomTask: Sendable, Hashable {
    /// Identifies one of a device's tasks.
    package enum Key: Sendable, Hashable {
        case room(UUID)
        /// The task with this id, in any room. The room changes if the partner leaves or doesn't come.
        case task(UUID)
    }

    package let id: UUID
    package let roomID: UUID
    package let startsAt: Date
    /// The partner's title, or `nil` without a partner.
    package let partnerTitle: String?

    private struct Day: Decodable {
        let schedule: [String: Slot]

        struct Slot: Decodable {
            let id: UUID
            let hasOwnTask: Bool
            let partnerTask: String?
            let roomId: UUID?

            func `is`(_ key: Key) -> Bool {
                switch key {
                case .room(let room): roomId == room
                case .task(let task): id == task
                }
            }
        }
    }

    /// - Parameters:
    ///   - day: An answer to `GET /schedule` about a day in UTC.
    ///   - start: The beginning of that day.
    init?(_ key: Key, _ day: [UInt8], beginning start: Date) {
        guard let day = try? JSONDecoder().decode(Day.self, from: Data(day)),
            let (time, slot) = day.schedule.first(where: { $1.hasOwnTask && $1.is(key) }),
            let seconds = Self.seconds(time), let room = slot.roomId
        else { return nil }
        id = slot.id
        roomID = room
        startsAt = start + Double(seconds)
        partnerTitle = slot.partnerTask
    }

    /// Returns the number of seconds after midnight, for a time such as `09:00` or `09:00:30`.
    private static func seconds(_ time: String) -> Int? {
        let parts = time.split(separator: ":").map { Int($0) }
        guard (2...3).contains(parts.count), let hour = parts[0], let minute = parts[1],
            let second = parts.count == 3 ? parts[2] : 0
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }
}
