import Basics
import Domain
package import FoundationEssentials
import Observability
import Postgres

/// The sessions with subscribers on this daemon. Each has the version up to which its changes were published. Also
/// keeps pages that were read for new subscribers.
///
/// After a change is committed, the code that made it calls ``changed(_:to:)``, and the database notifies all daemons.
/// A daemon reads the changes from the database and publishes them in the session's room. Nothing else is published
/// there.
package actor QuestionFeeds {
    /// The minimum number of feeds at which feeds without subscribers are removed.
    private static let feedLimit = 10_000
    /// The maximum number of pages that are kept for new subscribers, over all sessions.
    private static let pageLimit = 128

    private struct Feed {
        /// Distinguishes the feed from an earlier one of the same session.
        let number: Int
        var entrance: SessionEntrance
        var gathering: ChangeGathering
        var pending = PendingChanges()
        /// The version of the last published announcement.
        var announced: Int

        init(_ entrance: SessionEntrance, number: Int) {
            self.number = number
            self.entrance = entrance
            gathering = ChangeGathering(from: entrance.session.version)
            announced = entrance.session.version
        }
    }

    private struct PageKey: Hashable {
        let session: UUID
        let after: UUID?
        let all: Bool
    }

    /// A page that was read or is being read.
    private struct PageReading {
        let task: Task<QuestionPage?, any Error>
        /// The published version when the read began. After a later publication, the page would lack changes.
        let published: Int
        /// The known version when the read began. A reader that isn't a subscriber receives no changes later, so its
        /// page must include all known changes.
        let known: Int
    }

    private let store: QuestionStore
    private let audience: SessionOccupancy
    /// The entrances of sessions with a feed, for callers that can't wait.
    nonisolated let entrances = SessionEntrances()
    private let log: Log
    private let publish: @Sendable (QuestionPublication, UUID) -> Void
    private var feeds: [UUID: Feed] = [:]
    private var lastFeed = 0
    /// The number of feeds at which feeds without subscribers are removed next. At least twice the number of feeds that
    /// the last removal left, so that the cost per feed is constant.
    private var sweep = feedLimit
    private var opening: [UUID: Task<SessionEntrance?, any Error>] = [:]
    private var pages: [PageKey: PageReading] = [:]
    private var lastFailure: String?

    /// - Parameters:
    ///   - audience: Counts the subscribers of each session.
    ///   - publish: Publishes changes to a session's subscribers.
    init(
        store: QuestionStore, audience: SessionOccupancy, log: Log,
        publish: @escaping @Sendable (QuestionPublication, UUID) -> Void
    ) {
        self.store = store
        self.audience = audience
        self.log = log
        self.publish = publish
    }

    // MARK: Entering and leaving

    /// Opens a session's feed, which publishes changes from now on. Returns `nil` if the session doesn't exist.
    /// Simultaneous calls share one query.
    package func open(_ session: UUID) async throws -> SessionEntrance? {
        if let feed = feeds[session] { return feed.entrance }
        let task = opening[session] ?? Task { try await read(session) }
        opening[session] = task
        let entrance = try await task.value
        return entrance
    }

    private func read(_ session: UUID) async throws -> SessionEntrance? {
        defer { opening[session] = nil }
        if session == QuestionSession.open.id { try await store.makeOpenSession() }
        guard let page = try await store.page(of: session, all: false, limit: 0) else { return nil }
        let entrance = SessionEntrance(session: page.session, key: page.key)
        if feeds.count >= sweep { removeEmpty() }
        lastFeed += 1
        feeds[session] = Feed(entrance, number: lastFeed)
        entrances.set(entrance)
        return entrance
    }

    /// Returns the session for a caller that doesn't enter it. Doesn't open a feed.
    func look(at session: UUID) async throws -> SessionEntrance? {
        if let feed = feeds[session] { return feed.entrance }
        return try await store.page(of: session, all: false, limit: 0).map {
            SessionEntrance(session: $0.session, key: $0.key)
        }
    }

    /// Handles a new subscriber. Opens the session's feed again if it was removed before the subscriber entered.
    func entered(_ session: UUID) async {
        guard feeds[session] == nil else { return }
        while feeds[session] == nil, audience.count(in: session) > 0 {
            do {
                // If the session no longer exists, it has no changes to publish.
                _ = try await open(session)
                return
            } catch {
                try? await Task.sleep(for: ChangeGathering.retryInterval)
            }
        }
    }

    /// Removes the session's feed after its last subscriber has left.
    func left(_ session: UUID) {
        guard audience.count(in: session) == 0 else { return }
        remove(session)
        pages = pages.filter { $0.key.session != session }
    }

    /// Removes feeds without subscribers.
    private func removeEmpty() {
        for session in feeds.keys where audience.count(in: session) == 0 { remove(session) }
        pages = pages.filter { feeds[$0.key.session] != nil }
        sweep = max(Self.feedLimit, 2 * feeds.count)
    }

    private func remove(_ session: UUID) {
        feeds[session] = nil
        entrances.remove(session)
    }

    // MARK: Lists

    /// Returns a page of the list, with at least all published changes. Returns `nil` if the session doesn't exist.
    ///
    /// - Parameter follows: Whether the reader is a subscriber, which receives later changes. Other readers get a page
    ///   with all known changes, including their own.
    func page(of session: UUID, after last: UUID?, all: Bool, follows: Bool) async throws -> QuestionPage? {
        let key = PageKey(session: session, after: last, all: all)
        let gathering = feeds[session]?.gathering
        if let gathering, let reading = pages[key], reading.published == gathering.published,
            follows || reading.known == gathering.known
        {
            return try await reading.task.value
        }
        // The first page is shared by many clients, so it doesn't wait in the queue of the client that asked first.
        let requester = last == nil ? nil : Requester.current
        let task = Requester.$current.withValue(requester) {
            Task { try await store.page(of: session, after: last, all: all) }
        }
        if let gathering {
            if pages.count >= Self.pageLimit { pages = [:] }
            pages[key] = PageReading(task: task, published: gathering.published, known: gathering.known)
        }
        do {
            return try await task.value
        } catch {
            pages[key] = nil
            throw error
        }
    }

    // MARK: Changes

    /// Records that a change of the session was committed. `version` is `nil` if it is unknown.
    func changed(_ session: UUID, to version: Int?) {
        guard let action = feeds[session]?.gathering.changed(to: version, at: .now()) else { return }
        perform(action, in: session)
    }

    /// Handles the payload of a notification.
    package func receive(_ payload: String) {
        let parts = payload.split(separator: " ")
        guard parts.count == 2, let session = UUID(uuidString: String(parts[0])), let version = Int(parts[1]) else {
            return
        }
        changed(session, to: version)
    }

    /// Reads the changes of all sessions again, because notifications may have been missed.
    package func resynchronise() {
        for session in feeds.keys { changed(session, to: nil) }
    }

    private func perform(_ action: ChangeGathering.Action, in session: UUID) {
        switch action {
        case .none: break
        case .wait(let duration):
            Task {
                try? await Task.sleep(for: duration)
                guard let action = feeds[session]?.gathering.timeHasCome() else { return }
                perform(action, in: session)
            }
        case .read(let version): Task.unowned { await self.publishChanges(in: session, after: version) }
        }
    }

    private func publishChanges(in session: UUID, after version: Int) async {
        do {
            let changed = try await store.changed(in: session, after: version)
            guard let changed else {
                // The session was deleted.
                remove(session)
                return
            }
            for mark in changed.marks { feeds[session]?.pending.add(mark) }
            guard let before = feeds[session] else { return }
            let (part, count) = try await store.changes(before.pending.next)
            let (announcements, last) =
                changed.announced > before.announced
                ? try await store.announcements(in: session, after: before.announced) : ([], 0)
            lastFailure = nil
            guard var feed = feeds[session], feed.number == before.number else { return }
            feed.pending.remove(count)
            feed.announced = announcements.isEmpty ? max(feed.announced, changed.announced) : last
            let hasNewState = changed.session.state != feed.entrance.session.state
            feed.entrance = SessionEntrance(session: changed.session, key: feed.entrance.key)
            entrances.set(feed.entrance)
            let action = feed.gathering.published(
                through: changed.through, of: changed.session.version,
                more: !feed.pending.isEmpty || feed.announced < changed.announced, at: .now())
            feeds[session] = feed
            let changes = QuestionChanges(
                session: changed.session, part: part, announcements: announcements, through: changed.through)
            publish(QuestionPublication(changes, hasNewState: hasNewState), session)
            perform(action, in: session)
        } catch {
            note(error)
            if let action = feeds[session]?.gathering.failed() { perform(action, in: session) }
        }
    }

    /// Logs an error. Database outages are logged by the connection pool.
    private func note(_ error: any Error) {
        if let error = error as? PostgresError, error.isUnavailable { return }
        let text = "\(error)"
        if text != lastFailure { log.error("failed to read questions", ["error": .string(text)]) }
        lastFailure = text
    }
}
