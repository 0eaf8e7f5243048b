import Access
import Basics
import FoundationEssentials
import Wire

/// The rate at which each network may ask questions in each session. Any thread may use it.
///
/// Any client can invent another `deviceId`, or connect without one. Without this rate, one network could fill a
/// session within seconds.
package struct QuestionRates: Sendable {
    private struct Key: Hashable, Sendable {
        let session: UUID
        let network: IPAddress
    }

    /// The divisor of a session's maximum number of questions. The quotient is the number of questions that a network
    /// may ask without a pause.
    private static let shareAtOnce = 10
    /// The number of questions per second after the burst.
    private static let perSecond = 1
    /// The cost of a question without a device, as a number of questions. The cost is high because the limits per
    /// device don't apply to such a question.
    private static let costWithoutDevice = 10

    private let rates: RateTable<Key>

    /// - Parameter questionsPerSession: The maximum number of questions in a session.
    package init(questionsPerSession: Int) {
        rates = RateTable(
            perSecond: Self.perSecond, burst: max(Self.costWithoutDevice, questionsPerSession / Self.shareAtOnce))
    }

    /// Returns whether a network may ask another question.
    ///
    /// - Parameter network: The network. `nil` if limits don't apply to it.
    func admits(_ member: QuestionMember, from network: IPAddress?, at now: MonotonicTime) -> Bool {
        guard let network else { return true }
        return rates.pays(
            Key(session: member.session, network: network), times: member.device == nil ? Self.costWithoutDevice : 1,
            at: now)
    }
}
