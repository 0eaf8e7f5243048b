import Basics
package import FoundationEssentials
import Messaging
import Observability
import Postgres

/// The sessions that somebody on this daemon is in: up to which version each was told, and what has been read of it.
///
/// Whoever changes something says so to ``changed(_:to:)`` after the commit, and so does the database by NOTIFY, to all daemons. What
/// has changed is then read from the database, and published in the session's room: nobody is told otherwise.
package actor QuestionFeeds {
    /// Sessions from which on those are looked for that were opened, and that nobody is in.
    private static let feedLimit = 10_000
    /// Pages kept for those who come; of all sessions.
    private static let pageLimit = 128

    private struct Feed {
        /// Tells it from an earlier one of the same session.
        let number: Int
        var entrance: SessionEntrance
        var gathering: ChangeGathering
        var pending = PendingChanges()
        /// The version of the last announcement that was told.
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

    /// A page, or the reading of it.
    private struct PageReading {
        let task: Task<QuestionPage?, any Error>
        /// Up to where the session had been told when it began: later it would lack something.
        let published: Int
        /// The same of what had changed: later, somebody who hears nothing of it wouldn't see what was done.
        let known: Int
    }

    private let store: QuestionStore
    private let audience: SessionOccupancy
    /// What is known of these sessions, for those who can't wait.
    nonisolated let entrances = SessionEntrances()
    private let log: Log
    private let publish: @Sendable (QuestionPublication, UUID) -> Void
    private var feeds: [UUID: Feed] = [:]
    private var lastFeed = 0
    /// How many feeds there are when they are next looked through: as many again as were needed, so that each costs one look.
    private var sweep = feedLimit
    private var opening: [UUID: Task<SessionEntrance?, any Error>] = [:]
    private var pages: [PageKey: PageReading] = [:]
    private var lastFailure: String?

    /// - Parameters:
    ///   - audience: Who is in which session.
    ///   - publish: Tells those in a session.
    init(
        store: QuestionStore, audience: SessionOccupancy, log: Log,
        publish: @escaping @Sendable (QuestionPublication, UUID) -> Void
    ) {
        self.store = store
        self.audience = audience
        self.log = log
        self.publish = publish
    }

    // MARK: Coming and going

    /// The session, which is followed from now on; `nil` if there is none. However many come at once, the database is asked once.
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
        if feeds.count >= sweep { forgetEmpty() }
        lastFeed += 1
        feeds[session] = Feed(entrance, number: lastFeed)
        entrances.set(entrance)
        return entrance
    }

    /// The same for who doesn't come in: nobody is told anything.
    func look(at session: UUID) async throws -> SessionEntrance? {
        if let feed = feeds[session] { return feed.entrance }
        return try await store.page(of: session, all: false, limit: 0).map {
            SessionEntrance(session: $0.session, key: $0.key)
        }
    }

    /// Somebody came in. The session may have been forgotten since it was opened.
    func entered(_ session: UUID) async {
        guard feeds[session] == nil else { return }
        while feeds[session] == nil, audience.count(in: session) > 0 {
            do {
                // There may be none any more: then there is nothing to follow.
                _ = try await open(session)
                return
            } catch {
                try? await Task.sleep(for: ChangeGathering.retryInterval)
            }
        }
    }

    /// The last one has left a session.
    func left(_ session: UUID) {
        guard audience.count(in: session) == 0 else { return }
        forget(session)
        pages = pages.filter { $0.key.session != session }
    }

    /// Forgets sessions that were opened, and never entered.
    private func forgetEmpty() {
        for session in feeds.keys where audience.count(in: session) == 0 { forget(session) }
        pages = pages.filter { feeds[$0.key.session] != nil }
        sweep = max(Self.feedLimit, 2 * feeds.count)
    }

    private func forget(_ session: UUID) {
        feeds[session] = nil
        entrances.remove(session)
    }

    // MARK: Lists

    /// Part of the list, as of the version that was told last or a later one; `nil` if there is no such session.
    ///
    /// - Parameter follows: Whether whoever asks hears what has been changed since. Who doesn't finds all of it here: what one did a
    ///   moment ago as well.
    func page(of session: UUID, after last: UUID?, all: Bool, follows: Bool) async throws -> QuestionPage? {
        let key = PageKey(session: session, after: last, all: all)
        let gathering = feeds[session]?.gathering
        if let gathering, let reading = pages[key], reading.published == gathering.published,
            follows || reading.known == gathering.known
        {
            return try await reading.task.value
        }
        let task = Task { try await store.page(of: session, after: last, all: all) }
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

    /// The session has come to a version, and that is committed.
    func changed(_ session: UUID, to version: Int?) {
        guard let action = feeds[session]?.gathering.changed(to: version, at: .now()) else { return }
        perform(action, in: session)
    }

    /// The payload of a notification.
    package func receive(_ payload: String) {
        let parts = payload.split(separator: " ")
        guard parts.count == 2, let session = UUID(uuidString: String(parts[0])), let version = Int(parts[1]) else {
            return
        }
        changed(session, to: version)
    }

    /// Notifications may have been missed: all sessions are read on.
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
        case .read(let version): Task { await publishChanges(in: session, after: version) }
        }
    }

    private func publishChanges(in session: UUID, after version: Int) async {
        do {
            let changed = try await store.changed(in: session, after: version)
            guard let changed else {
                // It is over and gone.
                forget(session)
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

    /// A database that is away is others' to tell of.
    private func note(_ error: any Error) {
        if let error = error as? PostgresError, error.isUnavailable { return }
        let text = "\(error)"
        if text != lastFailure { log.error("failed to read questions", ["error": .string(text)]) }
        lastFailure = text
    }
}
