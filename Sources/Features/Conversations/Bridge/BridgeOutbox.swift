import AMQP
import Basics
import Domain
import Observability
import Postgres

/// Publishes stored messages to the broker in order, and repeats each until the broker confirms it. ``OutboxState``
/// decides what to do.
///
/// A message is published again if its outcome is unknown, or if it was confirmed but couldn't be removed from the
/// outbox. Repeats have the same `message_id`. If a full queue refuses a message that all other queues accepted, the
/// message is repeated alone a few times. After that the bridge gives up the message for this queue, because the
/// queue's owner may never return.
final class BridgeOutbox: Sendable {
    private static let batch = 32
    /// The time for which a killed daemon keeps other daemons from publishing. A batch takes less time, unless the
    /// broker hardly responds.
    private static let lease: Duration = .seconds(10)
    /// The maximum number of attempts for a message that a queue refuses.
    private static let tries = 3

    private let store: BridgeStore
    private let publish: @Sendable ([AMQPMessage]) async throws(AMQPError) -> Void
    private let metrics: BridgeMetrics
    private let log: Log
    private let state: Locked<OutboxState>
    private let timer = WakeableTimer()
    private let lastFailure = Locked<String?>(nil)
    /// The number of refusals of each message, by its position in the outbox.
    private let rejections = Locked<[Int: Int]>([:])

    /// - Parameters:
    ///   - settlingTime: The time between a new connection and the first message.
    ///   - publish: Publishes messages. Returns when the broker has confirmed them all.
    init(
        store: BridgeStore, metrics: BridgeMetrics, log: Log, settlingTime: Duration = OutboxState.settlingTime,
        publish: @escaping @Sendable ([AMQPMessage]) async throws(AMQPError) -> Void
    ) {
        self.store = store
        self.metrics = metrics
        self.log = log
        state = Locked(OutboxState(at: .now(), settlingTime: settlingTime))
        self.publish = publish
    }

    // MARK: Events

    func lookAgain() { change { $0.lookAgain() } }
    func connected() { change { $0.connected(at: .now()) } }
    func lost() { change { $0.lost() } }

    /// Makes ``run()`` return.
    func stop() { change { $0.stop() } }

    private func change(_ change: (inout OutboxState) -> Void) {
        state.withLock { change(&$0) }
        Task { [timer] in await timer.wake() }
    }

    // MARK: Work

    func run() async {
        while true {
            switch state.withLock({ $0.next(at: .now()) }) {
            case .round:
                let outcome = await round()
                state.withLock { $0.ended(outcome, at: .now(), random: .random(in: 0..<1)) }
            case .see:
                // A failure is harmless, because the next attempt reports again.
                if let waiting = try? await store.see() { metrics.waits(waiting) }
            case .sleep(let duration): await timer.sleep(for: duration)
            case .end: return await release()
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
                // The connection may have been replaced during the query. Clients need time before messages are
                // published on a new one.
                guard state.withLock({ $0.maySend(at: .now()) }) else {
                    await release()
                    return .brokerFailed
                }
                let rejected: [BridgeStore.Outgoing]
                do throws(AMQPError) {
                    rejected = try await send(messages)
                } catch {
                    note(error.message)
                    // Another daemon may have a connection to a working broker.
                    await release()
                    return .brokerFailed
                }
                let again = tryAgain(rejected)
                let finished = messages.filter { !again.contains($0.place) }
                try await store.finish(finished)
                metrics.waits(max(0, taken.waiting - finished.count))
                note(rejected.isEmpty ? nil : AMQPError.rejected(places: Array(rejected.indices)).message)
                // The refused messages are repeated after a pause, for which later messages wait, too.
                return again.isEmpty ? .done(mayBeMore: messages.count == Self.batch) : .brokerFailed
            }
        } catch {
            // Database outages are logged by the connection pool.
            if let error = error as? PostgresError, !error.isUnavailable { note("\(error)") }
            return .databaseFailed
        }
    }

    /// Ends the lease, so that another daemon can take the outbox before the lease expires. If this fails, the lease
    /// expires.
    private func release() async {
        do {
            try await store.release()
        } catch {
            log.warning(
                "failed to release the bridge's outbox: other daemons wait for the end of its lease",
                ["seconds": .int(Int(Self.lease / .seconds(1))), "error": .string("\(error)")])
        }
    }

    /// Publishes messages.
    ///
    /// - Returns: The messages that a queue refused.
    /// - Throws: An error if the broker may have received none of the messages.
    private func send(_ messages: [BridgeStore.Outgoing]) async throws(AMQPError) -> [BridgeStore.Outgoing] {
        let sent = messages.filter { $0.content != nil }
        var rejected: [BridgeStore.Outgoing] = []
        do throws(AMQPError) {
            try await publish(sent.compactMap(\.content).map(BridgeMessage.outgoing))
        } catch {
            guard case .rejected(let places) = error else {
                metrics.sent.add(.failed, sent.count)
                throw error
            }
            rejected = places.filter(sent.indices.contains).map { sent[$0] }
        }
        metrics.sent.add(.confirmed, sent.count - rejected.count)
        metrics.sent.add(.gone, messages.count - sent.count)
        return rejected
    }

    /// Counts refusals.
    ///
    /// - Returns: The positions of messages that must be published again.
    private func tryAgain(_ rejected: [BridgeStore.Outgoing]) -> Set<Int> {
        rejections.withLock { rejections in
            let counts = rejected.map { ($0.place, (rejections[$0.place] ?? 0) + 1) }
            rejections = Dictionary(counts.filter { $0.1 < Self.tries }) { $1 }
            metrics.sent.add(.failed, rejections.count)
            metrics.sent.add(.refused, counts.count - rejections.count)
            return Set(rejections.keys)
        }
    }

    /// Logs a failure, unless it is the same as the last one.
    private func note(_ failure: String?) {
        let isNew = lastFailure.withLock { last in
            defer { last = failure }
            return last != failure
        }
        if let failure, isNew { log.warning("messages are waiting for the broker", ["error": .string(failure)]) }
    }
}
