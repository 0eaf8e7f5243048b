import Domain
import FoundationEssentials

/// What became of a test reminder on one of its ways.
package struct DeliveryTest: Sendable, Equatable {
    package enum Outcome: String, Sendable {
        /// Somebody else is responsible for it now.
        case accepted
        /// The address is no more.
        case gone
        /// It didn't go this time.
        case failed
        /// It would never go.
        case refused
        /// The provider isn't set up here, though the device has an address of it.
        case off
    }

    package let provider: ProviderName
    package let outcome: Outcome
    /// Names no address and no secret.
    package let reason: String?

    init(_ provider: ProviderName, _ outcome: AttemptOutcome) {
        self.provider = provider
        switch outcome {
        case .accepted: (self.outcome, reason) = (.accepted, nil)
        case .gone(let text): (self.outcome, reason) = (.gone, text)
        case .retry(_, let text), .paused(_, let text): (self.outcome, reason) = (.failed, text)
        case .refused(let text): (self.outcome, reason) = (.refused, text)
        }
    }

    init(off provider: ProviderName) {
        self.provider = provider
        (outcome, reason) = (.off, nil)
    }
}

extension Delivery {
    /// A test, which nobody has written down.
    init(
        test content: ReminderContent, by provider: ProviderName, at now: Double, address: String = "",
        details: String = "", registeredAt: Double = 0
    ) {
        self.init(
            id: 0, provider: provider, messageId: content.id, happenedAt: now,
            deadline: max(now + 60, Double(content.startsAt.seconds)), asOf: now, attempt: 1, address: address,
            details: details, registeredAt: registeredAt, content: .reminder(content, json: content.json))
    }
}
