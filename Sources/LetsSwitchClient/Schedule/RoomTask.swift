#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A device's own task whose room that is: what is known of it from the device's days.
package struct RoomTask: Sendable, Hashable {
    package let id: UUID
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
        }
    }

    /// - Parameters:
    ///   - day: An answer to `GET /schedule`, of a day in UTC.
    ///   - start: That day's beginning.
    init?(in room: UUID, _ day: [UInt8], beginning start: Date) {
        guard let day = try? JSONDecoder().decode(Day.self, from: Data(day)),
            let (time, slot) = day.schedule.first(where: { $1.hasOwnTask && $1.roomId == room }),
            let seconds = Self.seconds(time)
        else { return nil }
        id = slot.id
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
