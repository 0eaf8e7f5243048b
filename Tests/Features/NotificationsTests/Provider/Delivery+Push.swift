import Domain
import FoundationEssentials

@testable import Notifications

extension Delivery {
    /// Returns a reminder of 2026-11-22 09:00 in Prague. Each test sets only the values that it needs.
    static func pushed(
        _ provider: ProviderName, address: String, details: String, title: String = "History",
        partnerTask: String? = "Maths", isPaired: Bool = true, registeredAt: Double = 1_795_330_000,
        payload: String = #"{"type":"reminder"}"#
    ) -> Delivery {
        let (id, task, room) = (
            UUID(uuidString: "B00970D4-BCF1-4754-9BE9-59F14DA249B1") ?? UUID(),
            UUID(uuidString: "B6ADFFEC-4189-45D4-84B7-A182871A405B") ?? UUID(),
            UUID(uuidString: "25EBEB34-4C7C-4043-8EAC-5CFB5A70CA52") ?? UUID()
        )
        let reminder = ReminderContent(
            id: id, taskId: task, title: title, startsAt: Instant(seconds: 1_795_338_000), startTime: "10:00",
            timeZone: "Europe/Prague", roomId: isPaired ? room : nil, partnerTask: isPaired ? partnerTask : nil)
        return Delivery(
            id: 1, provider: provider, messageId: id, happenedAt: 1_795_337_940, deadline: 1_795_338_000,
            asOf: 1_795_337_940.25, attempt: 1, address: address, details: details, registeredAt: registeredAt,
            content: .reminder(reminder, json: payload))
    }
}
