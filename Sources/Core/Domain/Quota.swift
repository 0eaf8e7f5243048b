import Basics
package import Observability

/// A limit of stored rows or of rates, per device or for everyone. The raw value is the name of its flag.
package enum Quota: String, Sendable, CaseIterable {
    case tasksPerDevice = "max-tasks-per-device"
    case seriesPerDevice = "max-series-per-device"
    case storedTasks = "max-stored-tasks"
    case storedSeries = "max-stored-series"
    case storedAddresses = "max-stored-addresses"
    case storedCalendars = "max-stored-calendars"
    case sessionsPerDevice = "max-sessions-per-device"
    case questionsPerSession = "max-questions-per-session"
    case storedSessions = "max-stored-sessions"
    case storedQuestions = "max-stored-questions"
    case storedVotes = "max-stored-votes"
    /// Per address.
    case namesPerHour = "names-per-hour"
    /// Per address, including messages on sockets.
    case messagesPerDay = "messages-per-day"
    case conversationsPerDevice = "max-conversations-per-device"
    case storedUsers = "max-stored-users"
    case storedConversations = "max-stored-conversations"
    case storedMessages = "max-stored-messages"
    case storedBlocks = "max-stored-blocks"
    case storedPreferences = "max-stored-preferences"
}

/// The maximum numbers of stored rows of all users together, for the tables that strangers can fill. At the limit,
/// requests for new rows get `503`.
///
/// A task takes 0.5 KB (3 KB with the longest names), an address up to 2.4 KB. A question takes up to 16 KB with the
/// longest text and answer, a vote 0.1 KB. A conversation takes up to 8 KB with 64 participants, a message usually 0.4
/// KB and up to 8 KB. A block or preference takes 0.3 KB, up to 1.5 KB.
package struct StorageLimits: Sendable, Hashable {
    package var tasks = 5_000_000
    package var addresses = 1_000_000
    package var calendars = 1_000_000
    /// Series of tasks. Each makes some tasks a week.
    package var series = 100_000
    /// Question sessions.
    package var sessions = 100_000
    package var questions = 1_000_000
    package var votes = 10_000_000
    /// Users with a name in conversations.
    package var users = 1_000_000
    package var conversations = 1_000_000
    package var messages = 10_000_000
    /// People whom devices have blocked.
    package var blocks = 1_000_000
    /// Partners whom devices prefer.
    package var preferences = 1_000_000
    /// How long push tokens, subscriptions, topics and calendars are kept after their last use. A use is a
    /// registration, a read of the calendar, or a new task of the device. The time is more than a year, for people with
    /// one task a year.
    package var addressRetention: Duration = .seconds(400 * 86_400)
    /// The time from the registration of a task until its purge: the horizon and the retention.
    package var taskRetention: Duration = .seconds(120 * 86_400)
    /// How long question sessions are kept, with their questions and votes.
    package var sessionRetention: Duration = .seconds(30 * 86_400)
    /// How long conversations and messages are kept.
    package var historyRetention: Duration = .seconds(365 * 86_400)

    package init() {}

    package init(tasks: Int, addresses: Int, calendars: Int) {
        self.tasks = tasks
        self.addresses = addresses
        self.calendars = calendars
    }

    /// Returns how long a row is kept if it isn't used again.
    package func retention(of table: StoredTable) -> Duration {
        switch table {
        case .tasks: taskRetention
        case .sessions, .questions, .votes: sessionRetention
        case .conversations, .messages: historyRetention
        case .series, .addresses, .calendars, .users, .blocks, .preferences: addressRetention
        }
    }

    package subscript(_ table: StoredTable) -> Int {
        switch table {
        case .tasks: tasks
        case .series: series
        case .addresses: addresses
        case .calendars: calendars
        case .sessions: sessions
        case .questions: questions
        case .votes: votes
        case .users: users
        case .conversations: conversations
        case .messages: messages
        case .blocks: blocks
        case .preferences: preferences
        }
    }
}

/// The limits of tables that strangers can fill, and the approximate numbers of their rows. Any thread may use them.
///
/// The number of rows is the last count of ``StorageMonitor`` plus the rows that this daemon has added since. A single
/// daemon hardly exceeds its limit. Several daemons may exceed it by the rows that the other daemons add between two
/// counts.
package final class StorageQuota: Sendable {
    private struct Rows {
        var stored: [StoredTable: Int] = [:]
        /// Rows added since the start.
        var added: [StoredTable: Int] = [:]
    }

    package let limits: StorageLimits
    private let rows = Locked(Rows())
    let shares = Locked(NetworkShares())

    package init(_ limits: StorageLimits = StorageLimits()) {
        self.limits = limits
    }

    /// Whether the table has reached its limit, so that no more rows may be added.
    package func isFull(_ table: StoredTable) -> Bool {
        rows.withLock { $0.stored[table] ?? 0 } >= limits[table]
    }

    /// Counts a row that was added, or perhaps only changed. The database's next count corrects the number.
    package func added(_ table: StoredTable) {
        rows.withLock {
            $0.stored[table, default: 0] += 1
            $0.added[table, default: 0] += 1
        }
    }

    /// The numbers of rows added since the start. A count of the database may lack the rows that are added while it
    /// runs.
    package var added: [StoredTable: Int] { rows.withLock { $0.added } }

    /// Stores the database's counts.
    ///
    /// - Parameter before: The value of ``added`` before the query. Rows added since the query began are counted again,
    ///   because its result may lack them.
    package func found(_ counts: [StoredTable: Int], since before: [StoredTable: Int]) {
        rows.withLock { rows in
            rows.stored = counts
            for (table, added) in rows.added { rows.stored[table, default: 0] += added - (before[table] ?? 0) }
        }
    }

    package func write(to text: inout MetricsText) {
        let stored = rows.withLock { $0.stored }
        text.gauge(
            "letsswitch_stored_rows", "Approximate number of rows in tables that users can fill, by table.",
            StoredTable.allCases.map { MetricSample(["table": $0.rawValue], Double(stored[$0] ?? 0)) })
        text.gauge(
            "letsswitch_stored_rows_limit", "Maximum number of rows, by table.",
            StoredTable.allCases.map { MetricSample(["table": $0.rawValue], Double(limits[$0])) })
    }
}

/// The tables that strangers can fill. Waiting deliveries have their own limit: a provider's oldest ones are dropped.
package enum StoredTable: String, Sendable, CaseIterable {
    case tasks
    /// Series of tasks.
    case series
    /// Push tokens, browsers' subscriptions, and ntfy topics.
    case addresses
    case calendars
    /// Question sessions.
    case sessions
    case questions
    case votes
    /// Users of conversations.
    case users
    case conversations
    case messages
    case blocks
    /// Partners whom devices prefer.
    case preferences

    /// The limit of the table's rows.
    package var quota: Quota {
        switch self {
        case .tasks: .storedTasks
        case .series: .storedSeries
        case .addresses: .storedAddresses
        case .calendars: .storedCalendars
        case .sessions: .storedSessions
        case .questions: .storedQuestions
        case .votes: .storedVotes
        case .users: .storedUsers
        case .conversations: .storedConversations
        case .messages: .storedMessages
        case .blocks: .storedBlocks
        case .preferences: .storedPreferences
        }
    }
}

extension RequestError {
    /// The address has used up its stored messages for today.
    package static func tooManyMessages(retryAfter: Int?) -> RequestError {
        RequestError(
            status: 429, code: "too_many_messages",
            reason: "This address has reached its daily limit of questions, votes and messages. Try again later.",
            retryAfter: retryAfter, quota: .messagesPerDay)
    }

    /// The server stores no more rows of this kind for anyone, until some expire or its operator raises the limit.
    package static func storageFull(_ table: StoredTable) -> RequestError {
        RequestError(
            status: 503, code: "storage_full",
            reason: "This server has reached its limit of stored \(table.rawValue). Try again later.",
            retryAfter: 3600, quota: table.quota)
    }
}
