import Basics
import Domain
import FoundationEssentials
import Observability
import Postgres

/// Publishes the messages of conversations to the participants on this daemon, in order. Each conversation with
/// participants here has a feed. A feed has published all messages up to an offset, and publishes the next one when it
/// arrives.
///
/// After the commit, the sender calls ``stored(_:)`` on its daemon, and the database notifies all daemons. A daemon
/// needn't read messages that it stored itself, because it receives them through ``stored(_:)``. A call of
/// ``stored(_:)`` or a notification can get lost. A feed that learns of a later message then reads the missing one from
/// the database. If the feed itself is new, a subscriber that receives message 7 after message 5 reads message 6.
///
/// | the feed's next message          | result                                                         |
/// |----------------------------------|----------------------------------------------------------------|
/// | was stored on this daemon        | It is published, and then later messages that waited for it.   |
/// | was stored on another daemon     | It is read from the database after its notification.           |
/// | is missing, but a later one came | It is read if nothing was published for the time `patience`.   |
package actor ConversationFeeds {
    /// The number of feeds above which idle feeds are removed. A feed is idle if it waits for no message. The next
    /// message of a conversation makes its feed again.
    static let feedLimit = 10_000
    /// The maximum number of messages of a conversation that wait for an earlier one.
    private static let waitingLimit = 1_000
    private static let retryInterval = Duration.seconds(1)
    private struct Feed {
        /// Distinguishes the feed from an earlier one of the same conversation.
        let number: Int
        /// The offset up to which messages were published. Both offsets only increase.
        var published: Int
        /// The highest announced offset.
        var known: Int
        /// The messages stored here that must wait for an earlier one, by offset.
        var waiting: [Int: ConversationPage] = [:]
        var isReading = false
        var isPatient = false

        /// Whether an announced message isn't published yet.
        var isBehind: Bool { published < known }

        /// Removes and returns the next message, if it was stored here.
        mutating func takeNext() -> ConversationPage? {
            guard let page = waiting.removeValue(forKey: published + 1) else { return nil }
            published += 1
            return page
        }
    }

    private let store: ConversationStore
    private let log: Log
    private let audience: ConnectedUsers
    private let patience: Duration
    private let publish: @Sendable (ConversationPage) -> Void
    private var feeds: [UUID: Feed] = [:]
    private var lastFeed = 0
    private var lastFailure: String?

    /// - Parameters:
    ///   - audience: The subscribers on this daemon.
    ///   - patience: The time to wait for a message that was stored here.
    ///   - publish: Publishes messages to the participants.
    init(
        store: ConversationStore, log: Log, audience: ConnectedUsers, patience: Duration = .milliseconds(250),
        publish: @escaping @Sendable (ConversationPage) -> Void
    ) {
        self.store = store
        self.log = log
        self.audience = audience
        self.patience = patience
        self.publish = publish
    }

    /// Handles a message that was stored and committed on this daemon.
    func stored(_ page: ConversationPage) {
        let number = page.lastOffset
        guard var feed = feed(of: page.conversation, before: number, to: page.routingKey), number > feed.published
        else { return }
        feed.known = max(feed.known, number)
        if feed.waiting.count < Self.waitingLimit { feed.waiting[number] = page }
        feeds[page.conversation] = feed
        proceed(page.conversation)
    }

    /// Handles the payload of a notification.
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
        guard audience.hasSubscriber(among: routingKey.split(separator: ".")) else {
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
        // Usually few feeds are behind. If there are many, they are dropped, too. A subscriber that receives the next
        // message reads the dropped ones.
        if feeds.count > Self.feedLimit / 2 { feeds = feeds.filter { $0.value.isReading } }
    }

    // MARK: Messages stored here

    /// Publishes the messages that are available, and waits a moment for a missing one.
    private func proceed(_ conversation: UUID) {
        guard var feed = feeds[conversation], !feed.isReading else { return }
        while let page = feed.takeNext() { publish(page) }
        let waits = feed.isBehind && !feed.isPatient
        if waits { feed.isPatient = true }
        feeds[conversation] = feed
        let (number, published) = (feed.number, feed.published)
        if waits { Task.unowned { await self.wait(for: conversation, number, after: published) } }
    }

    private func wait(for conversation: UUID, _ number: Int, after published: Int) async {
        try? await Task.sleep(for: patience)
        guard let feed = feeds[conversation], feed.number == number else { return }
        feeds[conversation]?.isPatient = false
        guard feed.isBehind else { return }
        // If a message was published during the wait, more are probably on their way.
        if feed.published > published { proceed(conversation) } else { read(conversation) }
    }

    // MARK: Messages stored by other daemons

    private func read(_ conversation: UUID) {
        guard let feed = feeds[conversation], !feed.isReading else { return }
        feeds[conversation]?.isReading = true
        Task.unowned { await self.readOn(conversation, feed.number) }
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
                // Deleted messages aren't published, so their offsets are skipped.
                let published = max(now.published, page.messages.last?.offset ?? page.lastOffset)
                feeds[conversation]?.published = published
                feeds[conversation]?.waiting = now.waiting.filter { $0.key > published }
                if page.messages.isEmpty, page.lastOffset < feed.known, now.known == feed.known {
                    // The announced message doesn't exist.
                    feeds[conversation] = nil
                    return
                }
            } catch {
                // The conversation was deleted, so there is nothing to publish.
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

    /// Logs an error. Database outages are logged by the connection pool.
    private func note(_ error: any Error) {
        if let error = error as? PostgresError, error.isUnavailable { return }
        let text = "\(error)"
        if text != lastFailure { log.error("failed to read messages", ["error": .string(text)]) }
        lastFailure = text
    }
}
