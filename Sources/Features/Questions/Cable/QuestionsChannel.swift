import Access
import ActionCable
import Domain
import FoundationEssentials
import Wire

/// A question session for the audience: the channel `{"channel":"QuestionsChannel","session":"<uuid>"}`. A subscriber
/// receives the same events as on the session's WebSocket. With `"presence":true` it also receives the number of people
/// in the session.
struct QuestionsChannel: CableChannel {
    let name: StaticString = "QuestionsChannel"
    let questions: Questions
    /// Whether ``QuestionSession/open`` exists.
    let hasOpenSession: Bool

    func subscribe(
        _ parameters: CableParameters, _ transport: SubscriptionTransport
    ) throws(CableRejection) -> any CableSubscription {
        guard let session = parameters.text("session").flatMap(UUID.init(text:)),
            hasOpenSession || session != QuestionSession.open.id,
            let member = try? questions.member(
                of: session, parameters.identity(of: transport), isPresenter: false, isLive: true)
        else { throw CableRejection() }
        let subscription = QuestionsSubscription(
            member, wantsPresence: parameters.isTrue("presence"), questions, by: transport)
        subscription.open()
        return subscription
    }
}
