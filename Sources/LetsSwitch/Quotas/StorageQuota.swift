import Synchronization

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
