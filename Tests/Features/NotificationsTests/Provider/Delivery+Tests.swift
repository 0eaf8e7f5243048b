import Domain
import FoundationEssentials
import Testing

@testable import Notifications

extension Delivery {
    /// Returns a reminder of a match that starts a minute after it was leased.
    static func sample(
        event: String = Delivery.reminder, attempt: Int = 1, timeLeft: Double = 60, address: String = "topic",
        title: String = "History", partner: String? = "Maths", payload: String = "{}", id: Int = 1
    ) -> Delivery {
        let message = UUID(uuidString: "B00970D4-BCF1-4754-9BE9-59F14DA249B1") ?? UUID()
        let content: Content =
            if event == Delivery.reminder {
                .reminder(
                    ReminderContent(
                        id: message, taskId: UUID(uuidString: "B6ADFFEC-4189-45D4-84B7-A182871A405B") ?? UUID(),
                        title: title, startsAt: Instant(seconds: 1_795_338_060), startTime: "09:00",
                        timeZone: "Europe/London", roomId: UUID(uuidString: "25EBEB34-4C7C-4043-8EAC-5CFB5A70CA52"),
                        partnerTask: partner), json: payload)
            } else {
                .event(type: event, json: payload)
            }
        return Delivery(
            id: id, provider: .ntfy, messageId: message,
            happenedAt: 1_795_338_000, deadline: 1_795_338_000 + timeLeft, asOf: 1_795_338_000, attempt: attempt,
            address: address, details: "{}", registeredAt: 0, content: content)
    }

    var itsReminder: ReminderContent? {
        if case .reminder(let reminder, _) = content { reminder } else { nil }
    }

    var reminderId: UUID? { itsReminder.map { _ in messageId } }
    var partnerTask: String? { itsReminder?.partnerTask }
    var startTime: String? { itsReminder?.startTime }
    var startsAt: Instant? { itsReminder?.startsAt }
    var roomId: UUID? { itsReminder?.roomId }

    /// The title of the reminder, or of the event if it has one.
    var title: String? {
        struct Titled: Decodable {
            let title: String?
        }
        if let itsReminder { return itsReminder.title }
        return try? JSONDecoder().decode(Titled.self, from: Data(payload.utf8)).title
    }
}

extension APNsPayload {
    static func json(_ delivery: Delivery, maxBytes: Int = maxBytes) -> [UInt8] {
        delivery.itsReminder.map { json($0, maxBytes: maxBytes) } ?? []
    }
}

extension NtfyMessage {
    init(_ delivery: Delivery, publicURL: String?) throws {
        self.init(try #require(delivery.itsReminder), topic: delivery.address, publicURL: publicURL)
    }
}
