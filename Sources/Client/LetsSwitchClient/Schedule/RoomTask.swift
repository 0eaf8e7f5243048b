#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A device's own task that has a room: what is known of it from the device's days.
package struct RoomTask: Sendable, Hashable {
    /// Which of a device's tasks is meant.
    package enum Key: Sendable, Hashable {
        case room(UUID)
        /// Whatever its room is by now: another than before, when the partner didn't come, or has left.
        case task(UUID)
    }

    package let id: UUID
    package let roomID: UUID
    package let startsAt: Date
    /// What the partner starts; `nil` without one.
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
    ///   - day: An answer to `GET /schedule`, of a day in UTC.
    ///   - start: That day's beginning.
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

    /// Of `09:00` or `09:00:30`.
    private static func seconds(_ time: String) -> Int? {
        let parts = time.split(separator: ":").map { Int($0) }
        guard (2...3).contains(parts.count), let hour = parts[0], let minute = parts[1],
            let second = parts.count == 3 ? parts[2] : 0
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }
}
