import Domain
import FoundationEssentials

/// The result of a test reminder through one provider.
package struct DeliveryTest: Sendable, Equatable {
    package enum Outcome: String, Sendable {
        /// The provider's server has accepted the test.
        case accepted
        /// The address no longer exists.
        case gone
        /// This attempt failed. A later one may succeed.
        case failed
        /// Every attempt would fail.
        case refused
        /// The device has an address, but the provider isn't configured.
        case off
    }

    package let provider: ProviderName
    package let outcome: Outcome
    /// The reason for the outcome. Contains no address and no secret.
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
    /// Creates a test delivery, which isn't stored.
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
