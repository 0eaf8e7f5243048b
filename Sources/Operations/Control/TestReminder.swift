import Basics
package import Delivery
import Domain
import FoundationEssentials
import Glibc
package import LiveSchedule
import Wire

/// Reminds a device of a task that nobody has, by each way that leads to it, and says what became of it there.
package struct TestReminder: Sendable {
    private let streams: EventStreams
    private let deliveries: DeliveryService
    private let lead: Duration

    /// - Parameter lead: The task starts when it would if it were reminded of now.
    package init(_ streams: EventStreams, _ deliveries: DeliveryService, lead: Duration) {
        self.streams = streams
        self.deliveries = deliveries
        self.lead = lead
    }

    func run(_ device: DeviceID, _ reply: ControlReply) async throws {
        let now = Double(time(nil))
        let start = Instant(seconds: Int(now + lead / .seconds(1)))
        let content = ReminderContent(
            id: UUID(), taskId: UUID(), title: "A test by this server's operator", startsAt: start,
            startTime: String(start.description.dropFirst(11).prefix(5)), timeZone: "UTC", roomId: nil,
            partnerTask: nil, isTest: true)
        let listening = await streams.test(content, to: device)
        reply.row { row in
            row.member("way", "stream")
            row.member("outcome", listening > 0 ? "sent" : "no stream on this daemon")
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
