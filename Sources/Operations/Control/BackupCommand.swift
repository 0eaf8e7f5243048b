import Dispatch
import Glibc
import Postgres
package import Settings
import Sockets

/// Runs `letsswitchd backup FILE` and `letsswitchd restore FILE`.
package struct BackupCommand: Sendable {
    private let order: BackupOrder
    private let remark: @Sendable (String) -> Void

    /// - Parameter remark: Called with each message for standard error that doesn't report an error.
    package init(_ order: BackupOrder, remark: @escaping @Sendable (String) -> Void) {
        self.order = order
        self.remark = remark
    }

    /// Runs the backup or the restore. A signal that ends the process cancels it and leaves no partial result.
    ///
    /// - Returns: A line for standard output.
    /// - Throws: An error whose description goes to standard error.
    package func run() async throws -> String {
        let work = Task { try await perform() }
        let queue = DispatchQueue(label: "letsswitch.backup")
        let watchers = [SIGTERM, SIGINT, SIGHUP].map { SignalWatcher($0, on: queue) { work.cancel() } }
        defer { withExtendedLifetime(watchers) {} }
        return try await work.value
    }

    private func perform() async throws -> String {
        let backup = ClusterBackup(stateDirectory: order.stateDirectory, names: .product)
        switch order.direction {
        case .backup:
            let size = try await backup.write(to: order.file) {
                remark(
                    "no daemon is running: the cluster in \(order.stateDirectory) is started for the backup, and stopped afterwards"
                )
            }
            return "backup: \(order.file), \(size) bytes\n"
        case .restore:
            try await backup.restore(from: order.file)
            return "restored: \(order.file), into \(order.stateDirectory)\n"
        }
    }
}
