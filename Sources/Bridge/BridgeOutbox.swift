import AMQP
import Basics
import Messaging
import Observability
import Postgres

/// Carries what was said to the broker: from the database, in order, again until it is confirmed. ``OutboxState`` decides.
///
/// What was confirmed and couldn't be taken out of the outbox goes again; so does what was perhaps confirmed. Repeats have the same
/// `message_id`.
final class BridgeOutbox: Sendable {
    private static let batch = 32
    /// How long a daemon that has died keeps the others from sending. A batch takes less, but with a broker that hardly answers.
    private static let lease: Duration = .seconds(10)

    private let store: BridgeStore
    private let publish: @Sendable ([AMQPMessage]) async throws(AMQPError) -> Void
    private let metrics: BridgeMetrics
    private let log: Log
    private let state = Locked(OutboxState(at: .now()))
    private let timer = WakeableTimer()
    private let lastFailure = Locked<String?>(nil)

    /// - Parameter publish: Returns when the broker has all of them.
    init(
        store: BridgeStore, metrics: BridgeMetrics, log: Log,
        publish: @escaping @Sendable ([AMQPMessage]) async throws(AMQPError) -> Void
    ) {
        self.store = store
        self.metrics = metrics
        self.log = log
        self.publish = publish
    }

    // MARK: What happens

    func heard() { change { $0.heard() } }
    func connected() { change { $0.connected(at: .now()) } }
    func lost() { change { $0.lost() } }

    /// Has ``run()`` return.
    func stop() { change { $0.stop() } }

    private func change(_ change: (inout OutboxState) -> Void) {
        state.withLock { change(&$0) }
        Task { [timer] in await timer.wake() }
    }

    // MARK: What is done

    func run() async {
        while true {
            switch state.withLock({ $0.next(at: .now()) }) {
            case .round:
                let outcome = await round()
                state.withLock { $0.ended(outcome, at: .now(), random: .random(in: 0..<1)) }
            case .see:
                // The next time is soon enough.
                try? await store.see()
            case .sleep(let duration): await timer.sleep(for: duration)
            case .end:
                // It ends by itself.
                try? await store.release()
                return
            }
        }
    }

    private func round() async -> OutboxState.Outcome {
        do {
            let taken = try await store.take(limit: Self.batch, lease: Self.lease)
            metrics.waits(taken.waiting)
            switch taken.kind {
            case .held(let time): return .held(for: time)
            case .messages(let messages):
                guard !messages.isEmpty else { return .done(mayBeMore: false) }
                let contents = messages.compactMap(\.content)
                do throws(AMQPError) {
                    try await publish(contents.map(BridgeMessage.outgoing))
                } catch {
                    metrics.sent.add(.failed, contents.count)
                    note(error.message)
                    return .brokerFailed
                }
                metrics.sent.add(.confirmed, contents.count)
                metrics.sent.add(.gone, messages.count - contents.count)
                try await store.finish(messages)
                metrics.waits(max(0, taken.waiting - messages.count))
                note(nil)
                return .done(mayBeMore: messages.count == Self.batch)
            }
        } catch {
            // A database that is away is others' to tell of.
            if let error = error as? PostgresError, !error.isUnavailable { note("\(error)") }
            return .databaseFailed
        }
    }

    /// Once for each reason.
    private func note(_ failure: String?) {
        let isNew = lastFailure.withLock { last in
            defer { last = failure }
            return last != failure
        }
        if let failure, isNew { log.warning("messages wait for the broker", ["error": .string(failure)]) }
    }
}
