import Basics
import Domain
import FoundationEssentials
import Glibc
package import Notifications
package import Reminders
import Wire

/// Sends a device a reminder of a task that doesn't exist, through each stream and provider, and reports the results.
package struct TestReminder: Sendable {
    private let streams: EventStreams
    /// `nil` if the daemon has no notifications.
    private let deliveries: DeliveryService?
    private let lead: Duration

    /// - Parameter lead: The time between now and the start of the task.
    package init(_ streams: EventStreams, _ deliveries: DeliveryService?, lead: Duration) {
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
            row.member("channel", "stream")
            row.member("outcome", listening > 0 ? "sent" : "no stream on this daemon")
            row.member("count", listening)
        }
        try await deliveries?.test(content, to: device, at: now) { test in
            reply.row { row in
                row.member("channel", test.provider.rawValue)
                row.member("outcome", test.outcome.rawValue)
                row.member("reason", test.reason)
            }
        }
    }
}
