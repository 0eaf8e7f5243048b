import Basics
import Dispatch

/// What a connection tells its user.
package enum AMQPEvent: Sendable, Equatable {
    /// At first and after every reconnection: all that was declared stands.
    case connected
    /// It is away, or couldn't be made; it goes on trying. `message` is for the log.
    case lost(message: String)
    case delivered(AMQPDelivery)
    /// The broker takes nothing that is published, for a reason of its own, until it says ``unblocked``.
    case blocked(reason: String)
    case unblocked
}

/// A connection to a RabbitMQ broker, which is made again whenever it is lost, on a thread of its own.
///
/// librabbitmq blocks; so whoever publishes and consumes much has two connections, one for each: a broker that takes nothing stops
/// reading from the one on which is published, and goes on with the other.
package final class AMQPConnection: Sendable {
    /// How long the thread gets for an orderly end, and again for any.
    private static let endTimeout: Duration = .seconds(1)

    private enum Phase {
        case new
        case started
        case stopped
    }

    private let configuration: AMQPConfiguration
    private let declarations: [AMQPDeclaration]
    private let mailbox = ConnectionMailbox()
    /// Held while an event is told.
    private let phase = Locked(Phase.new)

    /// - Parameter declarations: What the connection begins with, each time that it is made.
    package init(_ configuration: AMQPConfiguration, declaring declarations: [AMQPDeclaration]) {
        self.configuration = configuration
        self.declarations = declarations
    }

    /// Begins to connect; does nothing the second time, or after ``stop()``.
    ///
    /// - Parameter receive: Told one event at a time, on the connection's thread. Must not block, nor wait for the connection.
    package func start(_ receive: @escaping @Sendable (AMQPEvent) -> Void) {
        let starts = phase.withLock { phase in
            guard case .new = phase else { return false }
            phase = .started
            return true
        }
        guard starts else { return }
        // A queue of its own is a thread of its own.
        DispatchQueue(label: "amqp.connection").async { [self] in
            ConnectionDriver(configuration, declarations, mailbox) { event in
                self.phase.withLock { if case .started = $0 { receive(event) } }
            }.run()
            mailbox.ended()
        }
    }

    /// Ends the connection, within two seconds or so whatever the broker does. No event comes after it returns; what waits fails.
    package func stop() async {
        let wasStarted = phase.withLock { phase in
            defer { phase = .stopped }
            if case .new = phase { return false }
            return true
        }
        guard wasStarted else { return }
        mailbox.stop()
        let end = Task { await mailbox.awaitEnd() }
        if await end.ends(within: Self.endTimeout) { return }
        mailbox.cut()
        await end.ends(within: Self.endTimeout)
    }

    /// Publishes messages in order; returns when the system has taken them, and with ``AMQPDeclaration/confirms`` when the broker
    /// has all of them.
    ///
    /// - Throws: Some may have got there nevertheless.
    package func publish(_ messages: [AMQPMessage]) async throws(AMQPError) {
        guard !messages.isEmpty else { return }
        try await perform { .publish(messages, $0) }
    }

    /// The message has been dealt with: the broker forgets it. If the connection is lost before, it comes again.
    package func acknowledge(_ delivery: AMQPDelivery) {
        mailbox.submit(.acknowledge(delivery))
    }

    /// The message isn't wanted. The broker forgets it, or, if it `isPutBack`, has it for another try.
    package func reject(_ delivery: AMQPDelivery, isPutBack: Bool = false) {
        mailbox.submit(.reject(delivery, isPutBack: isPutBack))
    }

    /// Declares again what the connection began with; does nothing if there is no connection.
    package func declareAgain() {
        mailbox.submit(.declare)
    }

    /// Loses the connection, and makes it anew; nothing if there is none.
    package func reconnect(because reason: String) {
        mailbox.submit(.reconnect(reason: reason))
    }

    private func perform(
        _ command: (ConnectionCommand.Caller) -> ConnectionCommand
    ) async throws(AMQPError) {
        let outcome = await withCheckedContinuation { mailbox.submit(command($0)) }
        try outcome.get()
    }
}
