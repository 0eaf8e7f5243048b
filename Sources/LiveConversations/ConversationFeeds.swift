import FoundationEssentials
import Messaging
import Observability
import Postgres

/// What was said in conversations, to those on this daemon who take part: up to where each conversation was published here.
///
/// Whoever says something here says so to ``stored(_:)`` after the commit, and so does the database by NOTIFY, to all daemons. Nobody relies
/// on it for all: whoever finds that something is missing between what it heard and what comes reads it from the database.
package actor ConversationFeeds {
    /// Conversations from which on all are forgotten: they begin anew with what comes next.
    private static let feedLimit = 10_000
    private static let retryInterval = Duration.seconds(1)

    /// Both only grow.
    private struct Feed {
        /// Tells it from an earlier one of the same conversation.
        let number: Int
        var published: Int
        /// Up to here there is something, as somebody said.
        var known: Int
        var isReading = false
    }

    private let store: ConversationStore
    private let log: Log
    private let hasAudience: @Sendable () -> Bool
    private let publish: @Sendable (ConversationPage) -> Void
    private var feeds: [UUID: Feed] = [:]
    private var lastFeed = 0
    private var lastFailure: String?

    /// - Parameters:
    ///   - hasAudience: Whether anybody on this daemon hears conversations.
    ///   - publish: Tells those who take part.
    init(
        store: ConversationStore, log: Log, hasAudience: @escaping @Sendable () -> Bool,
        publish: @escaping @Sendable (ConversationPage) -> Void
    ) {
        self.store = store
        self.log = log
        self.hasAudience = hasAudience
        self.publish = publish
    }

    /// A message was sent here, and is committed.
    func stored(_ page: ConversationPage) {
        let number = page.lastOffset
        guard var feed = feed(of: page.conversation, before: number) else { return }
        guard !feed.isReading, feed.published == number - 1 else {
            // Of what was published before, a repeat says nothing new.
            return changed(page.conversation, to: number)
        }
        feed.published = number
        feed.known = max(feed.known, number)
        feeds[page.conversation] = feed
        publish(page)
        if feed.known > number { read(page.conversation) }
    }

    /// The payload of a notification.
    package func receive(_ payload: String) {
        let parts = payload.split(separator: " ")
        guard parts.count == 2, let conversation = UUID(uuidString: String(parts[0])), let number = Int(parts[1])
        else { return }
        changed(conversation, to: number)
    }

    private func changed(_ conversation: UUID, to number: Int) {
        guard var feed = feed(of: conversation, before: number), number > feed.known else { return }
        feed.known = number
        feeds[conversation] = feed
        if !feed.isReading { read(conversation) }
    }

    private func feed(of conversation: UUID, before number: Int) -> Feed? {
        guard hasAudience() else {
            feeds = [:]
            return nil
        }
        if let feed = feeds[conversation] { return feed }
        if feeds.count >= Self.feedLimit { feeds = feeds.filter { $0.value.isReading } }
        lastFeed += 1
        return Feed(number: lastFeed, published: number - 1, known: number - 1)
    }

    private func read(_ conversation: UUID) {
        guard let number = feeds[conversation]?.number else { return }
        feeds[conversation]?.isReading = true
        Task { await readOn(conversation, number) }
    }

    private func readOn(_ conversation: UUID, _ number: Int) async {
        while let feed = feeds[conversation], feed.number == number, feed.known > feed.published {
            do {
                let page = try await store.messages(in: conversation, .after(feed.published), for: nil)
                lastFailure = nil
                guard let now = feeds[conversation], now.number == number else { return }
                if !page.messages.isEmpty { publish(page) }
                // What was purged doesn't come.
                let published = page.messages.last?.offset ?? page.lastOffset
                feeds[conversation]?.published = max(now.published, published)
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
        if text != lastFailure { log.error("messages can't be read", ["error": .string(text)]) }
        lastFailure = text
    }
}
