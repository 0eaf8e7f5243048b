import Basics
import Domain
import Observability
import Postgres

/// Looks now and then how much is stored, and forgets where nobody is reached any more.
struct StorageMonitor: Sendable {
    /// Between two looks. They cost the database a few milliseconds.
    private static let interval = Duration.seconds(10)
    private static let purgeInterval = Duration.seconds(3600)
    /// Helpings of one purge; what is left waits for the next.
    private static let mostHelpings = 1000

    let store: StorageStore
    let quota: StorageQuota
    /// In seconds.
    let addressRetention: Double
    let log: Log

    /// Runs until its task is cancelled. What fails is tried again at the next look.
    func run() async {
        var purgesAt = MonotonicTime.now()
        var lastFailure: String?
        while !Task.isCancelled {
            do {
                quota.found(try await store.counts())
                if MonotonicTime.now() >= purgesAt {
                    try await purge()
                    purgesAt = .now() + Self.purgeInterval
                }
                lastFailure = nil
            } catch let error as PostgresError where error.isUnavailable {
                // Others say so.
            } catch {
                guard !Task.isCancelled else { return }
                let text = "\(error)"
                if text != lastFailure { log.error("what is stored can't be counted", ["error": .string(text)]) }
                lastFailure = text
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func purge() async throws {
        for _ in 0..<Self.mostHelpings where !Task.isCancelled {
            if try await store.forgetUnused(retention: addressRetention) == 0 { return }
        }
    }
}
