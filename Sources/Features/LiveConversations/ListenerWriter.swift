import Basics
package import Messaging
package import Observability
import Postgres

/// Has the database know who listens here, some milliseconds later: many come and go at once.
package final class ListenerWriter: Service {
    private static let pause: Duration = .milliseconds(50)
    private static let retryPause: Duration = .seconds(1)

    private struct State {
        var changes = ListenerChanges()
        var isStopping = false
    }

    private let store: ListenerStore
    private let audience: ConversationListeners
    private let log: Log
    private let state = Locked(State())
    private let timer = WakeableTimer()

    package init(store: ListenerStore, audience: ConversationListeners, log: Log) {
        self.store = store
        self.audience = audience
        self.log = log
        audience.observe { [weak self] user in self?.changed(user) }
    }

    private func changed(_ user: String) {
        state.withLock { $0.changes.add(user) }
        Task { [timer] in await timer.wake() }
    }

    /// This daemon was given up by others, who may have forgotten who listens here.
    package func forgotten() async {
        state.withLock { $0.changes.forgotten() }
        await timer.wake()
    }

    /// Nobody listens here, or on daemons that are gone: before anybody is answered.
    package func enter() async throws {
        try await store.forget()
    }

    package func run() async {
        while !state.withLock({ $0.isStopping }) {
            let batch = state.withLock { state in state.changes.take { audience.hears($0) } }
            guard !batch.isEmpty else {
                let isDone = state.withLock { $0.changes.isEmpty }
                if isDone { await timer.sleep(for: .seconds(3600)) }
                continue
            }
            do {
                try await store.set(came: batch.came, left: batch.left)
                state.withLock { $0.changes.wrote(batch) }
                try? await Task.sleep(for: Self.pause)
            } catch {
                state.withLock { $0.changes.failed(batch) }
                // A database that is away is others' to tell of.
                if let error = error as? PostgresError, !error.isUnavailable {
                    log.error("failed to write the listeners of conversations", ["error": .string("\(error)")])
                }
                await timer.sleep(for: Self.retryPause)
            }
        }
        // The daemon's own row goes with it, which says the same.
        try? await store.forget()
    }

    package func stop(within limit: Duration) async {
        state.withLock { $0.isStopping = true }
        await timer.wake()
    }
}
