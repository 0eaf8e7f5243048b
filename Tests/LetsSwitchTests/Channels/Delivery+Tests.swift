import Domain
import FoundationEssentials

@testable import Delivery
@testable import LetsSwitch

extension Delivery {
    /// A reminder of a match that starts a minute after it was taken.
    static func sample(
        event: String = Delivery.reminder, attempt: Int = 1, timeLeft: Double = 60, address: String = "topic",
        title: String = "History", partner: String? = "Maths", payload: String = "{}", id: Int = 1
    ) -> Delivery {
        let room = UUID(uuidString: "25EBEB34-4C7C-4043-8EAC-5CFB5A70CA52")
        return Delivery(
            id: id, provider: .ntfy, event: event,
            messageId: UUID(uuidString: "B00970D4-BCF1-4754-9BE9-59F14DA249B1") ?? UUID(),
            happenedAt: 1_795_338_000, deadline: 1_795_338_000 + timeLeft, asOf: 1_795_338_000, attempt: attempt,
            address: address, details: "{}", registeredAt: 0, payload: payload, reminderId: nil, taskId: nil,
            title: title, partnerTask: partner, startTime: "09:00", timeZone: "UTC",
            startsAt: Instant(seconds: 1_795_338_060), roomId: room)
    }
}
