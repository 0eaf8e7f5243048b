import Basics
import FoundationEssentials
package import Observability
import Postgres

/// Looks whether somebody sits alone after the start, and has those paired who do; and before it, whether a guest hasn't come for whom a
/// promise waits.
///
/// Several daemons may do this on one database: the slot's lock has one come after the other, who finds nothing left to do.
package actor RematchWorker: Service {
    /// Between two looks, while there may be something to find at any moment.
    private static let interval = Duration.seconds(1)
    /// At most, while there isn't: what makes it otherwise comes long before, but for a daemon that was away.
    private static let longestRest = Duration.seconds(5)
    /// So many times as long as the look has taken: with very many people in a slot the database has more to do than this.
    private static let restraint = 10
    /// So many promises at once are freed whose guests haven't come, and so many times before whoever sits alone has their turn again.
    private static let helping = 100
    private static let helpings = 10

    private let store: RematchStore
    private let invitations: InvitationStore
    private let log: Log
    private let paired: @Sendable (Int) -> Void
    private let timer = WakeableTimer()
    private var isStopped = false

    /// - Parameters:
    ///   - store: Of a pool whose connections a slot may keep waiting: not the scheduler's.
    ///   - invitations: Likewise.
    ///   - paired: Told how many pairs were made; 0 when something else has changed.
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

    /// - Returns: For how long there is nothing to do.
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
        let pause = (MonotonicTime.now() - began) * Self.restraint
        await freeLapsed()
        return max(Self.interval, pause)
    }

    /// Ends ``run()`` after the slot in hand.
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

    /// What fails keeps nothing else up, and is tried again at the next look.
    private func freeLapsed() async {
        var failed: Set<UUID> = []
        for _ in 0..<Self.helpings where !isStopped {
            let lapsed: [UUID]
            do {
                lapsed = try await invitations.lapsed(limit: Self.helping, but: failed)
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
            if lapsed.count < Self.helping { return }
        }
    }

    private func report(_ error: any Error, _ what: String) {
        // The scheduler says when the database is away.
        if let error = error as? PostgresError, error.isUnavailable { return }
        log.error(what, ["error": .string("\(error)")])
    }
}
