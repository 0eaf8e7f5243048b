package import Observability
import Synchronization

/// What bounds what one device, or all people together, may have stored; called as the flag that says how much it is.
package enum Quota: String, Sendable, CaseIterable {
    case tasksPerDevice = "max-tasks-per-device"
    case storedTasks = "max-stored-tasks"
    case storedAddresses = "max-stored-addresses"
    case storedCalendars = "max-stored-calendars"
}

/// How many rows the tables may have that strangers can fill, and about how many they have. Any thread.
///
/// The number is what ``StorageMonitor`` has found last, and what this daemon has added since. So one daemon goes hardly over
/// its limit; several together by what the others add between two looks.
package final class StorageQuota: Sendable {
    private let limits: [StoredTable: Int]
    private let stored = Mutex<[StoredTable: Int]>([:])

    /// - Parameter limits: Rows; a table without one has no limit.
    package init(_ limits: [StoredTable: Int] = [:]) {
        self.limits = limits
    }

    /// Whether nothing more may be added.
    package func isFull(_ table: StoredTable) -> Bool {
        guard let limit = limits[table] else { return false }
        return stored.withLock { $0[table] ?? 0 } >= limit
    }

    /// A row was added, or perhaps only changed: the next look tells.
    package func added(_ table: StoredTable) {
        stored.withLock { $0[table, default: 0] += 1 }
    }

    /// What the database says.
    package func found(_ counts: [StoredTable: Int]) {
        stored.withLock { $0 = counts }
    }

    package func write(to text: inout MetricsText) {
        let stored = stored.withLock { $0 }
        text.gauge(
            "letsswitch_stored_rows", "About how many rows the tables have that strangers can fill.",
            StoredTable.allCases.map { MetricSample(["table": $0.rawValue], Double(stored[$0] ?? 0)) })
        text.gauge(
            "letsswitch_stored_rows_limit", "How many rows they may have.",
            StoredTable.allCases.compactMap { table in
                limits[table].map { MetricSample(["table": table.rawValue], Double($0)) }
            })
    }
}

/// The tables that strangers can fill. (What waits to be sent has a bound of its own: a channel's oldest deliveries go.)
package enum StoredTable: String, Sendable, CaseIterable {
    case tasks
    /// Push tokens, browsers' subscriptions, ntfy's topics.
    case addresses
    case calendars

    /// What bounds its rows.
    package var quota: Quota {
        switch self {
        case .tasks: .storedTasks
        case .addresses: .storedAddresses
        case .calendars: .storedCalendars
        }
    }
}

extension RequestError {
    /// The server keeps no more of these, whoever asks; until some are over, or its operator raises the limit.
    package static func storageFull(_ table: StoredTable) -> RequestError {
        RequestError(
            status: 503, code: "storage_full", reason: "This server keeps as many \(table.rawValue) as it may.",
            retryAfter: 3600, quota: table.quota)
    }
}
