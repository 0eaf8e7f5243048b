import Access
import Basics
import Domain
import FoundationEssentials
package import Rooms

/// A peer in a session. Its messages are stored one after the other, and it receives the session's changes. Must be
/// used on its loop.
///
/// ```
/// reading (a page of the list) ⇄ sending ──► live: every change after the list
/// ```
package final class QuestionSubscriber: RoomListener {
    /// The reason why a subscriber ends.
    package enum End {
        /// Too many messages are waiting.
        case tooFast
        /// The session is full.
        case full
        /// The subscriber's device was erased.
        case erased
        /// The subscriber's ticket has expired.
        case expired
        /// The session was deleted.
        case gone
    }

    private enum Following {
        /// The subscriber doesn't follow the list.
        case none
        /// A page of the list is being read or must be read. `after` is the last question that was sent.
        case reading(after: UUID?)
        /// A page is being sent. When the peer has received it, the page after `last` is read. `last` is `nil` for the
        /// last page.
        case sending(last: UUID?)
        case live
    }

    let member: QuestionMember
    let number: QuestionShard.Number
    private let transport: any QuestionTransport
    private unowned let shard: QuestionShard
    private var following: Following
    /// Whether changes are sent. Changes are sent from the first page of the list on.
    private var isListed = false
    /// The version up to which changes were published since the subscriber entered.
    private var seen = 0
    /// The messages that wait for the database. The first one is being performed.
    private var waiting: [QuestionMessage] = []
    /// The questions that the subscriber has voted for. Further votes for them don't count against the address's rate,
    /// because at most one vote per question is stored.
    private var paidQuestions: Set<UUID> = []
    /// The maximum number of remembered questions.
    private static let mostPaidQuestions = 1_000
    /// The answered questions to report later, while a question is being stored. The asker must first receive the id of
    /// the new question.
    private var heldAnswers: [UUID] = []

    var requester: Requester? { transport.requester }

    init(
        _ member: QuestionMember, _ number: QuestionShard.Number, _ transport: any QuestionTransport,
        on shard: QuestionShard
    ) {
        self.member = member
        self.number = number
        self.transport = transport
        self.shard = shard
        following = member.isLive ? .reading(after: nil) : .none
    }

    // MARK: Messages from the client

    package func received(_ message: QuestionMessage) {
        switch message {
        case .unknown(let reason): return transport.send(.error(code: nil, reason: reason))
        case .ask(let id, _) where id != member.id:
            return transport.send(.error(code: nil, reason: "The id of a question must be the id from the handshake."))
        case .vote(nil, _):
            return transport.send(
                .error(code: "invalid_request", reason: "The questionId of a vote must be the UUID of a question."))
        case .vote where member.device == nil:
            return transport.send(
                .error(
                    code: "device_required",
                    reason: "Voting requires a deviceId. Each device has one vote per question."))
        case .ask, .vote: break
        }
        guard waiting.count < SocketLimits.waitingMessages else { return transport.end(.tooFast) }
        waiting.append(message)
        if waiting.count == 1 { begin(message) }
    }

    private func begin(_ message: QuestionMessage) {
        if let refusal = rateRefusal(of: message) {
            done([shard.questions.responder.refusal(of: message, refusal)])
        } else {
            shard.perform(message, for: self)
        }
    }

    /// Counts a message that would be stored against the rates of the peer's address. Returns the refusal if a rate is
    /// exceeded.
    private func rateRefusal(of message: QuestionMessage) -> RequestError? {
        guard message.isKept else { return nil }
        switch message {
        case .ask:
            guard shard.admitsQuestion(of: member, from: transport.network) else { return .tooManyQuestionsFromNetwork }
        case .vote(let question?, _):
            guard !paidQuestions.contains(question) else { return nil }
            guard transport.admitsMessage() else { return .tooManyMessages(retryAfter: nil) }
            if paidQuestions.count < Self.mostPaidQuestions { paidQuestions.insert(question) }
            return nil
        case .vote(nil, _), .unknown: break
        }
        return transport.admitsMessage() ? nil : .tooManyMessages(retryAfter: nil)
    }

    /// Sends the result of the first waiting message, and begins the next one.
    func done(_ events: [QuestionEvent]) {
        for event in events { transport.send(event) }
        if !waiting.isEmpty { waiting.removeFirst() }
        if !isAsking {
            for question in heldAnswers { transport.send(.answered(question)) }
            heldAnswers = []
        }
        if let next = waiting.first { begin(next) }
    }

    private var isAsking: Bool {
        waiting.contains { if case .ask = $0 { true } else { false } }
    }

    // MARK: Events for the client

    func send(_ event: QuestionEvent) { transport.send(event) }
    func end(_ code: End) { transport.end(code) }

    func isSelected(by option: WebSocketSendOption) -> Bool {
        option.selects(id: member.id, transport.webSocket)
    }

    package func deliver(_ publication: Publication) {
        if let presence = publication.message as? PresenceCount {
            return transport.send(presence: presence.count, publication)
        }
        guard let published = PublishedQuestions(publication) else { return }
        let changes = published.publication.changes
        seen = max(seen, changes.through)
        for answer in changes.part.answers where isSelected(by: .id(answer.askedFrom)) {
            if isAsking { heldAnswers.append(answer.question) } else { transport.send(.answered(answer.question)) }
        }
        for (index, announcement) in changes.announcements.enumerated()
        where isSelected(by: WebSocketSendOption(announcement.recipients)) {
            transport.send(announcement: index, of: published)
        }
        if isListed { transport.send(published, forPresenter: member.isPresenter) }
    }

    // MARK: The list

    /// Requests the next page of the list if the subscriber is live.
    func follow() {
        if case .reading = following { transport.awaitTurn() }
    }

    /// Reads the next page of the list.
    package func hasTurn() {
        if case .reading(let last) = following { shard.readPage(after: last, for: self) }
    }

    /// Sends a page of the list.
    ///
    /// - Returns: Whether the page was sent. A page that is older than a publication must be read again.
    func take(_ page: QuestionPage) -> Bool {
        guard page.session.version >= seen else { return false }
        isListed = true
        following = .sending(last: page.more ? page.questions.last?.id : nil)
        transport.send(.questions(page, forPresenter: member.isPresenter))
        // The session may have been opened or closed before this subscriber received changes, so its state is sent,
        // too.
        if !page.more { transport.send(.session(page.session.state)) }
        transport.reportDrain()
        return true
    }

    /// Requests the next page after the peer has received the last one.
    package func drained() {
        guard case .sending(let last) = following else { return }
        following = last.map { .reading(after: $0) } ?? .live
        transport.endTurn()
        follow()
    }
}

extension RequestError {
    /// Status `429`: the peer's network asks faster than ``QuestionRates`` allows.
    fileprivate static let tooManyQuestionsFromNetwork = RequestError(
        status: 429, code: "too_many_questions",
        reason: "Your address has asked too many questions in this session. Try again in a minute.")
}
