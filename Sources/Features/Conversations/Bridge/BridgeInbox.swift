import AMQP
import Basics
import Domain
import Observability
import Postgres

/// Stores messages from the broker, one after the other. Acknowledges each after its commit.
final class BridgeInbox: Sendable {
    /// Stores a message and notifies its subscribers. Returns whether it is new.
    typealias Receive = @Sendable (IncomingMessage) async throws -> Bool

    private static let retryPause: Duration = .seconds(1)
    /// The maximum number of attempts for a message that the database refuses although it is available.
    private static let tries = 5

    private let receive: Receive
    private let metrics: BridgeMetrics
    private let log: Log
    private let queue = Locked(IncomingQueue())
    private let timer = WakeableTimer()

    init(metrics: BridgeMetrics, log: Log, receive: @escaping Receive) {
        self.receive = receive
        self.metrics = metrics
        self.log = log
    }

    // MARK: Events

    func delivered(_ delivery: AMQPDelivery) { change { $0.append(delivery) } }
    func lost() { change { $0.lost() } }

    /// Makes ``run(_:)`` return.
    func stop() { change { $0.stop() } }

    private func change(_ change: (inout IncomingQueue) -> Void) {
        queue.withLock { change(&$0) }
        Task { [timer] in await timer.wake() }
    }

    // MARK: Work

    /// Stores messages until ``stop()``.
    ///
    /// - Parameter connection: The connection that received the messages.
    func run(_ connection: AMQPConnection) async {
        // The verdict is kept between attempts, so that a generated id stays the same.
        var current: (delivery: AMQPDelivery, verdict: BridgeMessage.Verdict)?
        while true {
            switch queue.withLock({ $0.next() }) {
            case .end: return
            case .wait: await timer.sleep(for: .seconds(3600))
            case .take(let delivery, let attempt):
                let verdict =
                    if let current, current.delivery == delivery { current.verdict } else {
                        BridgeMessage.verdict(delivery)
                    }
                current = (delivery, verdict)
                let settlement = await settle(verdict, attempt: attempt)
                switch settlement {
                case .again, .later:
                    if settlement == .later { queue.withLock { $0.wasNoAttempt() } }
                    await pause()
                    continue
                case .acknowledged(let result):
                    metrics.received.add(result)
                    connection.acknowledge(delivery)
                case .rejected(let reason):
                    metrics.received.add(.rejected)
                    metrics.rejections.add(reason)
                    connection.reject(delivery)
                }
                queue.withLock { $0.finished(delivery) }
            }
        }
    }

    /// Waits before another attempt. Messages that arrive during the wait don't shorten it.
    private func pause() async {
        let end = MonotonicTime.now() + Self.retryPause
        while MonotonicTime.now() < end, !queue.withLock({ $0.isStopping }) {
            await timer.sleep(for: end - .now())
        }
    }

    /// Performs a verdict: stores the message if the verdict says so. Returns whether the broker receives an
    /// acknowledgement or a rejection, or whether to try again.
    func settle(_ verdict: BridgeMessage.Verdict, attempt: Int) async -> Settlement {
        switch verdict {
        case .own: return .acknowledged(.own)
        case .reject(let reason): return .rejected(reason)
        case .store(let message):
            do {
                return .acknowledged(try await receive(message) ? .stored : .repeated)
            } catch {
                let settlement = Self.settlement(after: error, attempt: attempt)
                if settlement == .rejected(.failed) {
                    log.error("failed to store a message from the broker", ["error": .string("\(error)")])
                }
                return settlement
            }
        }
    }

    static func settlement(after error: any Error, attempt: Int) -> Settlement {
        switch error {
        case let error as RequestError: .rejected(error.quota == nil ? .refused : .full)
        case let error as PostgresError where error.kind == .shutDown || RequestError(error) != nil: .later
        default: attempt < tries ? .again : .rejected(.failed)
        }
    }
}
