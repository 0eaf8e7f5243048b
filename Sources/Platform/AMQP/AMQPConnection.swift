import Basics
import Dispatch

/// An event of a connection.
package enum AMQPEvent: Sendable, Equatable {
    /// The connection is open and all declarations are made. This event comes at first and after each reconnection.
    case connected
    /// The connection was lost or couldn't be opened, and is tried again. `message` is for the log.
    case lost(message: String)
    case delivered(AMQPDelivery)
    /// The broker accepts no messages until ``unblocked``. `reason` is the broker's text.
    case blocked(reason: String)
    case unblocked
}

/// A connection to a RabbitMQ broker on its own thread. It reconnects whenever it is lost.
///
/// librabbitmq blocks, so a program that publishes and consumes needs two connections. A broker with an alarm stops
/// reading from the publishing connection, but still sends to the consuming one.
package final class AMQPConnection: Sendable {
    /// The time limit for an orderly end. A forced end has the same limit again.
    private static let endTimeout: Duration = .seconds(1)

    private enum Phase {
        case new
        case started
        case stopped
    }

    private let configuration: AMQPConfiguration
    private let declarations: [AMQPDeclaration]
    private let mailbox = ConnectionMailbox()
    /// The lock is held while an event is reported, so that no event comes after ``stop()``.
    private let phase = Locked(Phase.new)

    /// - Parameter declarations: The declarations to make whenever the connection opens, in this order.
    package init(_ configuration: AMQPConfiguration, declaring declarations: [AMQPDeclaration]) {
        self.configuration = configuration
        self.declarations = declarations
    }

    /// Starts to connect. Does nothing when it is called again, or after ``stop()``.
    ///
    /// - Parameter receive: Called with one event at a time, on the connection's thread. The function must neither
    ///   block nor wait for the connection.
    package func start(_ receive: @escaping @Sendable (AMQPEvent) -> Void) {
        let starts = phase.withLock { phase in
            guard case .new = phase else { return false }
            phase = .started
            return true
        }
        guard starts else { return }
        // Dispatch gives a new queue its own thread.
        DispatchQueue(label: "amqp.connection").async { [self] in
            ConnectionDriver(configuration, declarations, mailbox) { event in
                self.phase.withLock { if case .started = $0 { receive(event) } }
            }.run()
            mailbox.ended()
        }
    }

    /// Ends the connection within about two seconds, even if the broker doesn't answer. After this method returns, no
    /// event comes. Waiting calls fail.
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

    /// Publishes messages in order. Returns when the system has taken them. With ``AMQPDeclaration/confirms``, returns
    /// when the broker has confirmed all of them.
    ///
    /// - Throws: ``AMQPError``. Some messages may nevertheless have reached the broker.
    package func publish(_ messages: [AMQPMessage]) async throws(AMQPError) {
        guard !messages.isEmpty else { return }
        try await perform { .publish(messages, $0) }
    }

    /// Acknowledges a message, which the broker then deletes. If the connection is lost before the acknowledgement
    /// arrives, the broker delivers the message again.
    package func acknowledge(_ delivery: AMQPDelivery) {
        mailbox.submit(.acknowledge(delivery))
    }

    /// Rejects a message. The broker deletes the message, or delivers it again if `isPutBack` is `true`.
    package func reject(_ delivery: AMQPDelivery, isPutBack: Bool = false) {
        mailbox.submit(.reject(delivery, isPutBack: isPutBack))
    }

    /// Repeats the connection's declarations. Does nothing without a connection.
    package func declareAgain() {
        mailbox.submit(.declare)
    }

    /// Drops the connection and opens a new one. Does nothing without a connection.
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
