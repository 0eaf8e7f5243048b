import Basics
package import Observability

/// What bounds what one device, or all people together, may have stored; called as the flag that says how much it is.
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
    /// Of an address.
    case namesPerHour = "names-per-hour"
    /// Of an address: of what sockets say too.
    case messagesPerDay = "messages-per-day"
    case conversationsPerDevice = "max-conversations-per-device"
    case storedUsers = "max-stored-users"
    case storedConversations = "max-stored-conversations"
    case storedMessages = "max-stored-messages"
    case storedBlocks = "max-stored-blocks"
    case storedPreferences = "max-stored-preferences"
}

/// Rows, of all people's together, of what strangers can register: beyond them `503` for what is new. A task takes 0.5 KB, 3 KB with
/// the longest names; an address up to 2.4 KB; a question up to 16 KB with the longest text and answer, a vote 0.1 KB; a
/// conversation up to 8 KB with 64 participants, a message up to 8 KB with the longest text, mostly 0.4 KB; who is blocked or
/// preferred 0.3 KB, up to 1.5 KB.
package struct StorageLimits: Sendable, Hashable {
    package var tasks: Int
    package var addresses: Int
    package var calendars: Int
    /// Of promises: each makes some tasks a week.
    package var series = 100_000
    /// Sessions of questions.
    package var sessions = 100_000
    package var questions = 1_000_000
    package var votes = 10_000_000
    /// Who takes part in conversations, and may be found by a name.
    package var users = 1_000_000
    package var conversations = 1_000_000
    package var messages = 10_000_000
    /// Whom devices don't want to meet.
    package var blocks = 1_000_000
    /// Whom devices would like to have for partners again.
    package var preferences = 1_000_000
    /// How long push tokens, subscriptions, topics and calendars are kept after their last use: that they were registered, a
    /// calendar was read, or their device registered a task. Over a year, for those who promise something once a year.
    package var addressRetention: Duration = .seconds(400 * 86_400)

    package init(tasks: Int = 5_000_000, addresses: Int = 1_000_000, calendars: Int = 1_000_000) {
        self.tasks = tasks
        self.addresses = addresses
        self.calendars = calendars
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

/// How many rows the tables may have that strangers can fill, and about how many they have. Any thread.
///
/// The number is what ``StorageMonitor`` has found last, and what this daemon has added since. So one daemon goes hardly over
/// its limit; several together by what the others add between two looks.
package final class StorageQuota: Sendable {
    private struct Rows {
        var stored: [StoredTable: Int] = [:]
        /// Since the beginning.
        var added: [StoredTable: Int] = [:]
    }

    package let limits: StorageLimits
    private let rows = Locked(Rows())

    package init(_ limits: StorageLimits = StorageLimits()) {
        self.limits = limits
    }

    /// Whether nothing more may be added.
    package func isFull(_ table: StoredTable) -> Bool {
        rows.withLock { $0.stored[table] ?? 0 } >= limits[table]
    }

    /// A row was added, or perhaps only changed: the next look tells.
    package func added(_ table: StoredTable) {
        rows.withLock {
            $0.stored[table, default: 0] += 1
            $0.added[table, default: 0] += 1
        }
    }

    /// How many were added so far, by which a look knows what it may not have seen.
    package var added: [StoredTable: Int] { rows.withLock { $0.added } }

    /// What the database says.
    ///
    /// - Parameter before: ``added`` when it was asked: what was added since may be among the counted, or not, and is counted.
    package func found(_ counts: [StoredTable: Int], since before: [StoredTable: Int]) {
        rows.withLock { rows in
            rows.stored = counts
            for (table, added) in rows.added { rows.stored[table, default: 0] += added - (before[table] ?? 0) }
        }
    }

    package func write(to text: inout MetricsText) {
        let stored = rows.withLock { $0.stored }
        text.gauge(
            "letsswitch_stored_rows", "About how many rows the tables have that strangers can fill.",
            StoredTable.allCases.map { MetricSample(["table": $0.rawValue], Double(stored[$0] ?? 0)) })
        text.gauge(
            "letsswitch_stored_rows_limit", "How many rows they may have.",
            StoredTable.allCases.map { MetricSample(["table": $0.rawValue], Double(limits[$0])) })
    }
}

/// The tables that strangers can fill. (What waits to be sent has a bound of its own: a provider's oldest deliveries go.)
package enum StoredTable: String, Sendable, CaseIterable {
    case tasks
    /// Of promises.
    case series
    /// Push tokens, browsers' subscriptions, ntfy's topics.
    case addresses
    case calendars
    /// Of questions.
    case sessions
    case questions
    case votes
    /// Of conversations.
    case users
    case conversations
    case messages
    case blocks
    /// Of partners.
    case preferences

    /// What bounds its rows.
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
    /// The address has said as much today as may be kept of it.
    package static func tooManyMessages(retryAfter: Int?) -> RequestError {
        RequestError(
            status: 429, code: "too_many_messages", reason: "This address says more in a day than may be kept of it.",
            retryAfter: retryAfter, quota: .messagesPerDay)
    }

    /// The server keeps no more of these, whoever asks; until some are over, or its operator raises the limit.
    package static func storageFull(_ table: StoredTable) -> RequestError {
        RequestError(
            status: 503, code: "storage_full", reason: "This server keeps as many \(table.rawValue) as it may.",
            retryAfter: 3600, quota: table.quota)
    }
}
