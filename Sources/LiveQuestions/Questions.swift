package import Access
import Basics
package import Domain
package import FoundationEssentials
package import Messaging
package import Observability
package import Rooms
import Server
package import Sockets

/// All sessions of questions, as this daemon has to do with them. May be used from anywhere.
package final class Questions: Sendable {
    let store: QuestionStore
    let rooms: Rooms
    package let feeds: QuestionFeeds
    package let audience: SessionOccupancy
    package let metrics: QuestionMetrics
    /// For tasks that do little but wait for the database.
    let executor: any TaskExecutor
    /// Seconds since 1970, by which tickets expire.
    let now: @Sendable () -> Double
    private let loops: [EventLoop]
    private let keys: RoomKeys
    /// Each voter waits for the outcome of its own vote, and is told at once that it couldn't be counted; the page votes again.
    private let votes: GatheredCalls<Vote, QuestionStore.VoteOutcome>
    private let messageRates: DeviceMessageRates
    private let log: Log
    private let shardKey = LoopLocal<QuestionShard>()
    private static let votesAtOnce = GatheringLimits(
        itemsPerCall: 500, waitingItems: 10_000, delay: .milliseconds(20))

    /// - Parameters:
    ///   - sessionSize: Sockets of a session on this daemon.
    ///   - messageRates: How much devices may say, here and elsewhere.
    ///   - now: Seconds since 1970, as ``IdentityVerifier/now`` has them.
    package init(
        store: QuestionStore, rooms: Rooms, keys: RoomKeys, loops: [EventLoop], executor: any TaskExecutor,
        sessionSize: Int, messageRates: DeviceMessageRates, metrics: QuestionMetrics, log: Log,
        now: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.messageRates = messageRates
        self.store = store
        self.rooms = rooms
        self.keys = keys
        self.loops = loops
        self.executor = executor
        self.metrics = metrics
        self.log = log
        audience = SessionOccupancy(limit: sessionSize)
        votes = GatheredCalls(Self.votesAtOnce) { try await store.count($0).map { .success($0) } }
        feeds = QuestionFeeds(store: store, audience: audience, log: log) { publication, session in
            rooms.publish([(publication, Self.room(of: session, keys))])
        }
    }

    /// Those on a loop. On that loop.
    package func shard(on reactor: Reactor, loop: EventLoop) -> QuestionShard {
        shardKey.value(on: reactor) { QuestionShard(on: reactor, loop: loop, self) }
    }

    func room(of session: UUID) -> UUID { Self.room(of: session, keys) }

    private static func room(of session: UUID, _ keys: RoomKeys) -> UUID {
        keys.room(.questions, withUnsafeBytes(of: session.uuid) { Array($0) })
    }

    /// Where those are counted who are in a session.
    func hall(of session: UUID) -> UUID {
        keys.room(.hall, withUnsafeBytes(of: session.uuid) { Array($0) })
    }

    /// By which a session knows a device, whenever it comes; another in each session.
    func id(of device: DeviceID, in session: UUID) -> UUID {
        keys.room(.asker, withUnsafeBytes(of: session.uuid) { Array($0) } + Array(device.text.utf8))
    }

    // MARK: Coming in

    /// Who somebody is in a session. Throws if its ticket isn't for that.
    package func member(
        of session: UUID, _ identity: Identity, isPresenter: Bool, isLive: Bool
    ) throws(RequestError) -> QuestionMember {
        try identity.check(.questions(session))
        let device = identity.device
        return QuestionMember(
            session: session, id: device.map { id(of: $0, in: session) } ?? UUID(), device: device,
            isPresenter: isPresenter, isLive: isLive, expiry: identity.expiry)
    }

    /// Lets a WebSocket into a session. On its loop.
    func enter(_ webSocket: WebSocket, _ member: QuestionMember, loop: EventLoop) -> any WebSocketHandler {
        QuestionSocket(webSocket, member, paying: messageRates, on: shard(on: webSocket.reactor, loop: loop))
    }

    // MARK: What is said

    /// Does what somebody in a session asks for.
    ///
    /// - Returns: What it is to be told.
    func perform(_ message: QuestionMessage, for member: QuestionMember) async -> [QuestionEvent] {
        switch message {
        case .ask(_, let content): [await ask(content, member)]
        case .vote(let question?, let isFor):
            await vote(
                Vote(session: member.session, question: question, voter: member.id, isFor: isFor)
            ).map { [$0] } ?? []
        case .vote(nil, _), .unknown: []
        }
    }

    private func ask(_ content: String?, _ member: QuestionMember) async -> QuestionEvent {
        do {
            guard let content else { throw RequestError.invalid("content", "is missing") }
            let text = try QuestionText.check(content, "content")
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
            // The notification of it was missed, or is on its way.
            if error.code == RequestError.deviceErased.code, let device = member.device { end(device) }
            return .refused(content: content ?? "", error)
        }
    }

    private func vote(_ vote: Vote) async -> QuestionEvent? {
        do {
            switch try await votes.call(vote) {
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

    /// What somebody is told whose address has said as much as may be kept.
    func refusal(of message: QuestionMessage) -> QuestionEvent {
        let error = refusal(RequestError.tooManyMessages(retryAfter: nil))
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
        log.error("a question can't be dealt with", ["error": .string("\(error)")])
        return .internalError
    }

    // MARK: What a presenter does

    func moderate(
        _ question: UUID, _ action: QuestionAction, answer: String?, keys: [PresenterKeyDigest], opensAll: Bool
    ) async throws -> Question {
        let (question, version) = try await store.moderate(
            question, action, answer: answer, keys: keys, opensAll: opensAll)
        await feeds.changed(question.session, to: version)
        return question
    }

    func set(
        _ session: UUID, to state: QuestionSession.State, keys: [PresenterKeyDigest]
    ) async throws -> QuestionSession {
        let session = try await store.set(session, to: state, keys: keys)
        await feeds.changed(session.id, to: session.version)
        return session
    }

    /// - Returns: To how many of this daemon's sockets it goes.
    func announce(
        _ announcement: AnnouncementRequest, in session: UUID, keys: [PresenterKeyDigest]
    ) async throws -> Int {
        let version = try await store.announce(announcement, in: session, keys: keys)
        var count = 0
        for loop in loops {
            count += await loop.run { reactor in
                self.shard(on: reactor, loop: loop).count(
                    in: session, WebSocketSendOption(announcement.recipients))
            }
        }
        await feeds.changed(session, to: version)
        return count
    }

    /// The device was erased: its sockets end.
    package func end(_ device: DeviceID) {
        guard audience.total > 0 else { return }
        for loop in loops { loop.submit { self.shard(on: $0, loop: loop).end(device) } }
    }
}

/// What sessions of questions count. Any thread.
package struct QuestionMetrics: Sendable {
    /// Of what came by sockets: requests are counted where they are answered.
    let quotas: CounterSet<Quota>

    package init(quotas: CounterSet<Quota>) {
        self.quotas = quotas
    }

    enum Asked: String, Sendable, CaseIterable {
        case stored, refused
    }

    let asked = CounterSet<Asked>()
    let votes = Counter()
    /// Sockets that found their session full.
    package let turnedAway = Counter()

    package func write(to text: inout MetricsText) {
        text.counter(
            "letsswitch_questions_total", "Questions that were asked, by what became of them.",
            asked.samples(label: "result"))
        text.counter("letsswitch_question_votes_total", "Votes for questions, and votes taken back.", votes.value)
    }
}
