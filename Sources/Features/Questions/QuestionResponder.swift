import Basics
import Domain
import FoundationEssentials
import Observability

/// Performs the messages of members: stores them, or refuses them. Any thread may use it.
struct QuestionResponder: Sendable {
    private let store: QuestionStore
    private let feeds: QuestionFeeds
    private let metrics: QuestionMetrics
    private let log: Log
    /// The votes to count, gathered from all members. Each member receives the outcome of its own vote. If a vote
    /// couldn't be counted, the page sends it again.
    private let votes: GatheredCalls<Vote, QuestionStore.VoteOutcome>
    private static let votesAtOnce = GatheringLimits(
        itemsPerCall: 500, waitingItems: 10_000, delay: .milliseconds(20))

    init(store: QuestionStore, feeds: QuestionFeeds, metrics: QuestionMetrics, log: Log) {
        self.store = store
        self.feeds = feeds
        self.metrics = metrics
        self.log = log
        votes = GatheredCalls(Self.votesAtOnce) { try await store.count($0).map { .success($0) } }
    }

    /// Performs a message of a member.
    ///
    /// - Parameter erased: Called if the member's device was erased.
    /// - Returns: The events for the member.
    func perform(
        _ message: QuestionMessage, for member: QuestionMember, erased: @Sendable (DeviceID) -> Void
    ) async -> [QuestionEvent] {
        switch message {
        case .ask(_, let content): [await ask(content, member, erased)]
        case .vote(let question?, let isFor):
            await vote(
                Vote(session: member.session, question: question, voter: member.id, isFor: isFor)
            ).map { [$0] } ?? []
        case .vote(nil, _), .unknown: []
        }
    }

    private func ask(
        _ content: String?, _ member: QuestionMember, _ erased: @Sendable (DeviceID) -> Void
    ) async -> QuestionEvent {
        do {
            guard let content else { throw RequestError.invalid("content", "is missing") }
            let text = try QuestionText.check(content, "content")
            // Opens the feed first, because an answer is only published if there is a feed. A new subscriber may ask
            // before its feed is open.
            _ = try await feeds.open(member.session)
            if member.session == QuestionSession.open.id { try await store.makeOpenSession() }
            let asked = try await store.ask(
                text, in: member.session, asker: member.id, device: member.device,
                present: MonotonicTime.now() - member.since)
            metrics.asked.add(.stored)
            await feeds.changed(member.session, to: asked.version)
            return .accepted(id: asked.id, content: text, createdAt: asked.createdAt)
        } catch {
            metrics.asked.add(.refused)
            let error = refusal(error)
            // The notification of the erasure was missed, or hasn't arrived yet.
            if error.code == RequestError.deviceErased.code, let device = member.device { erased(device) }
            return .refused(content: content ?? "", error)
        }
    }

    private func vote(_ vote: Vote) async -> QuestionEvent? {
        do {
            switch try await store.vote(vote, countedBy: { try await votes.call($0) }) {
            case .counted(let version):
                metrics.votes.add()
                await feeds.changed(vote.session, to: version)
                return nil
            case .refused(let error): throw error
            }
        } catch {
            let error = refusal(error)
            return .error(code: error.code, reason: error.reason)
        }
    }

    /// Returns the answer to a message that is refused before it reaches the database.
    func refusal(of message: QuestionMessage, _ cause: RequestError) -> QuestionEvent {
        let error = refusal(cause)
        guard case .ask(_, let content) = message else { return .error(code: error.code, reason: error.reason) }
        metrics.asked.add(.refused)
        return .refused(content: content ?? "", error)
    }

    private func refusal(_ error: any Error) -> RequestError {
        if case GatheringError.full = error { return .databaseUnavailable }
        if let refusal = RequestError(answering: error) {
            if let quota = refusal.quota { metrics.quotas.add(quota) }
            return refusal
        }
        log.error("failed to process a question", ["error": .string("\(error)")])
        return .internalError
    }
}
