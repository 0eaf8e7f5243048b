import FoundationEssentials
import Messaging
import Observability
import Postgres

/// What was said in conversations, to those on this daemon who take part: up to where each conversation was published here.
///
/// Whoever says something here says so to ``stored(_:)`` after the commit, and so does the database by NOTIFY, to all daemons. What this
/// daemon has stored itself it isn't told of to read it: that comes by itself, in a moment. Nobody relies on either for all: whoever finds
/// that something is missing between what it heard and what comes reads it from the database.
///
/// | a feed's next message | what happens                                                   |
/// |-----------------------|----------------------------------------------------------------|
/// | was stored here       | published, and what waited behind it                           |
/// | another daemon's      | read as it is told of                                          |
/// | is not to be had      | read, when nothing was published for as long as the patience is |
package actor ConversationFeeds {
    /// Conversations from which on those are forgotten of which all is published: they begin anew with what comes next.
    static let feedLimit = 10_000
    /// Messages of one that wait for one before them.
    private static let waitingLimit = 1_000
    private static let retryInterval = Duration.seconds(1)
    private struct Feed {
        /// Tells it from an earlier one of the same conversation.
        let number: Int
        /// Both only grow.
        var published: Int
        /// Up to here there is something, as somebody said.
        var known: Int
        /// What was stored here, and isn't next.
        var waiting: [Int: ConversationPage] = [:]
        var isReading = false
        var isPatient = false

        /// Something was said that isn't published yet.
        var isBehind: Bool { published < known }

        /// What was stored here and is next.
        mutating func takeNext() -> ConversationPage? {
            guard let page = waiting.removeValue(forKey: published + 1) else { return nil }
            published += 1
            return page
        }
    }

    private let store: ConversationStore
    private let log: Log
    private let audience: ConversationListeners
    private let patience: Duration
    private let publish: @Sendable (ConversationPage) -> Void
    private var feeds: [UUID: Feed] = [:]
    private var lastFeed = 0
    private var lastFailure: String?

    /// - Parameters:
    ///   - audience: Those on this daemon who hear conversations.
    ///   - patience: For what was stored here to come by itself.
    ///   - publish: Tells those who take part.
    init(
        store: ConversationStore, log: Log, audience: ConversationListeners, patience: Duration = .milliseconds(250),
        publish: @escaping @Sendable (ConversationPage) -> Void
    ) {
        self.store = store
        self.log = log
        self.audience = audience
        self.patience = patience
        self.publish = publish
    }

    /// A message was sent here, and is committed.
    func stored(_ page: ConversationPage) {
        let number = page.lastOffset
        guard var feed = feed(of: page.conversation, before: number, to: page.routingKey), number > feed.published
        else { return }
        feed.known = max(feed.known, number)
        if feed.waiting.count < Self.waitingLimit { feed.waiting[number] = page }
        feeds[page.conversation] = feed
        proceed(page.conversation)
    }

    /// The payload of a notification.
    package func receive(_ payload: String) {
        guard let notice = MessageNotice(payload),
            var feed = feed(of: notice.conversation, before: notice.offset, to: notice.routingKey),
            notice.offset > feed.published
        else { return }
        feed.known = max(feed.known, notice.offset)
        feeds[notice.conversation] = feed
        if notice.origin == store.origin { proceed(notice.conversation) } else { read(notice.conversation) }
    }

    private func feed(of conversation: UUID, before number: Int, to routingKey: String) -> Feed? {
        guard audience.hears(routingKey.split(separator: ".")) else {
            feeds[conversation] = nil
            return nil
        }
        if let feed = feeds[conversation] { return feed }
        if feeds.count >= Self.feedLimit { sweep() }
        lastFeed += 1
        return Feed(number: lastFeed, published: number - 1, known: number - 1)
    }

    private func sweep() {
        feeds = feeds.filter { $0.value.isReading || $0.value.isBehind }
        // So many wait seldom. What is lost then is read by whoever hears what comes next.
        if feeds.count > Self.feedLimit / 2 { feeds = feeds.filter { $0.value.isReading } }
    }

    // MARK: What was stored here

    /// Publishes what is there, and waits a moment for what isn't.
    private func proceed(_ conversation: UUID) {
        guard var feed = feeds[conversation], !feed.isReading else { return }
        while let page = feed.takeNext() { publish(page) }
        let waits = feed.isBehind && !feed.isPatient
        if waits { feed.isPatient = true }
        feeds[conversation] = feed
        if waits { Task { await wait(for: conversation, feed.number, after: feed.published) } }
    }

    private func wait(for conversation: UUID, _ number: Int, after published: Int) async {
        try? await Task.sleep(for: patience)
        guard let feed = feeds[conversation], feed.number == number else { return }
        feeds[conversation]?.isPatient = false
        guard feed.isBehind else { return }
        // Where something has come meanwhile, more will.
        if feed.published > published { proceed(conversation) } else { read(conversation) }
    }

    // MARK: What others have stored

    private func read(_ conversation: UUID) {
        guard let feed = feeds[conversation], !feed.isReading else { return }
        feeds[conversation]?.isReading = true
        Task { await readOn(conversation, feed.number) }
    }

    private func readOn(_ conversation: UUID, _ number: Int) async {
        while var feed = feeds[conversation], feed.number == number, feed.isBehind {
            if let page = feed.takeNext() {
                feeds[conversation] = feed
                publish(page)
                continue
            }
            do {
                let page = try await store.messages(in: conversation, .after(feed.published), for: nil)
                lastFailure = nil
                guard let now = feeds[conversation], now.number == number else { return }
                if !page.messages.isEmpty { publish(page) }
                // What was purged doesn't come.
                let published = max(now.published, page.messages.last?.offset ?? page.lastOffset)
                feeds[conversation]?.published = published
                feeds[conversation]?.waiting = now.waiting.filter { $0.key > published }
                if page.messages.isEmpty, page.lastOffset < feed.known, now.known == feed.known {
                    // It isn't there, whoever said so.
                    feeds[conversation] = nil
                    return
                }
            } catch {
                // It is gone: then nobody hears of it.
                guard (error as? PostgresError) != nil else {
                    if feeds[conversation]?.number == number { feeds[conversation] = nil }
                    return
                }
                note(error)
                try? await Task.sleep(for: Self.retryInterval)
            }
        }
        if feeds[conversation]?.number == number { feeds[conversation]?.isReading = false }
    }

    /// A database that is away is others' to tell of.
    private func note(_ error: any Error) {
        if let error = error as? PostgresError, error.isUnavailable { return }
        let text = "\(error)"
        if text != lastFailure { log.error("failed to read messages", ["error": .string(text)]) }
        lastFailure = text
    }
}
