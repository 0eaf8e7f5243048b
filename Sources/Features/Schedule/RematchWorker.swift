import Basics
import FoundationEssentials
package import Observability
import Postgres

/// Matches users who are alone after the start. Also frees tasks whose guests didn't come before the start.
///
/// Several daemons may do this on one database. The slot's lock makes one daemon wait for the other. The second one
/// then finds nothing to do.
package actor RematchWorker: Service {
    /// The time between two checks while users may be alone.
    private static let interval = Duration.seconds(1)
    /// The longest time between two checks otherwise. The daemon knows of new work long before it is due, unless the
    /// daemon was unavailable.
    private static let longestRest = Duration.seconds(5)
    /// The pause lasts at least this many times as long as the check before it. This spares the database if a slot has
    /// very many users.
    private static let pauseFactor = 10
    /// The maximum number of tasks without a guest that one query finds.
    private static let invitationBatch = 100
    /// The maximum number of such queries per check. More would delay the rematching of users who are alone.
    private static let mostInvitationBatches = 10

    private let store: RematchStore
    private let invitations: InvitationStore
    private let log: Log
    private let paired: @Sendable (Int) -> Void
    private let timer = WakeableTimer()
    private var isStopped = false

    /// - Parameters:
    ///   - store: Uses a pool whose connections may wait for a slot's lock, so not the scheduler's.
    ///   - invitations: Uses the same pool.
    ///   - paired: Receives the number of new matches, or 0 if something else has changed.
    package init(
        store: RematchStore, invitations: InvitationStore, log: Log, paired: @escaping @Sendable (Int) -> Void
    ) {
        self.store = store
        self.invitations = invitations
        self.log = log
        self.paired = paired
    }

    /// Works until ``stop(within:)``.
    package func run() async {
        while !isStopped {
            await timer.sleep(for: await look())
        }
    }

    /// Rematches users and frees tasks, if it is time.
    ///
    /// - Returns: The time until the next check.
    private func look() async -> Duration {
        do {
            let rest = min(try await store.next() ?? Self.longestRest, Self.longestRest)
            guard rest == .zero else { return rest }
        } catch {
            report(error, "failed to find the next time to rematch people")
            return Self.interval
        }
        let began = MonotonicTime.now()
        await rematch()
        let pause = (MonotonicTime.now() - began) * Self.pauseFactor
        await freeLapsed()
        return max(Self.interval, pause)
    }

    /// Ends ``run()`` after the current slot.
    package func stop(within limit: Duration) async {
        isStopped = true
        await timer.wake()
    }

    private func rematch() async {
        do {
            for slot in try await store.slots() where !isStopped {
                paired(try await store.rematch(slot))
            }
        } catch {
            report(error, "failed to rematch people whose partners didn't come")
        }
    }

    /// Frees tasks whose guests didn't come. If a task can't be freed, the others still are. The next check tries
    /// again.
    private func freeLapsed() async {
        var failed: Set<UUID> = []
        for _ in 0..<Self.mostInvitationBatches where !isStopped {
            let lapsed: [UUID]
            do {
                lapsed = try await invitations.lapsed(limit: Self.invitationBatch, but: failed)
            } catch {
                return report(error, "failed to find tasks whose guests didn't come")
            }
            for task in lapsed where !isStopped {
                do {
                    if try await invitations.free(task) { paired(1) }
                } catch {
                    failed.insert(task)
                    report(error, "failed to match a task whose guest didn't come")
                }
            }
            if lapsed.count < Self.invitationBatch { return }
        }
    }

    private func report(_ error: any Error, _ what: String) {
        // The scheduler already logs that the database is unavailable.
        if let error = error as? PostgresError, error.isUnavailable { return }
        log.error(what, ["error": .string("\(error)")])
    }
}
