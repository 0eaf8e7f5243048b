package import Basics

/// Receives notifications (`NOTIFY`) on its own connection. The listener reconnects when the connection is lost.
///
/// A heartbeat detects a half-open connection, on which no notification would ever arrive again.
package actor PostgresListener {
    private nonisolated let executor: QueueExecutor
    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let receive: @Sendable (PostgresListenerEvent) -> Void
    private var session: PostgresSession?
    private var running: Task<Void, Never>?
    private var stopped = false
    /// A stream that ends when the listener listens for the first time.
    private nonisolated let beginning = AsyncStream<Void>.makeStream()

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Creates a listener. `receive` is called on the executor's queue, with one event at a time, and must not block.
    /// Until it returns, nothing more is read, and further notifications wait in the database.
    package init(
        configuration: PostgresConfiguration,
        channels: [String],
        executor: QueueExecutor = QueueExecutor(label: "postgres.listener"),
        receive: @escaping @Sendable (PostgresListenerEvent) -> Void
    ) {
        self.configuration = configuration
        self.channels = channels
        self.executor = executor
        self.receive = receive
    }

    /// Starts to listen. Does nothing when it is called again, or after `stop`.
    package func start() {
        guard running == nil, !stopped else { return }
        running = Task { await run() }
    }

    /// Returns when notifications are received, the listener is stopped, or the task is cancelled. Call this method
    /// once.
    package nonisolated func waitUntilListening() async {
        for await _ in beginning.stream {}
    }

    /// Ends the connection. After this method returns, no event comes.
    package func stop() async {
        stopped = true
        beginning.continuation.finish()
        running?.cancel()
        await session?.close()
        await running?.value
    }

    private func run() async {
        var backoff = Backoff(minimum: configuration.minBackoff, maximum: configuration.listenerMaxBackoff)
        while !stopped {
            do {
                try await listen()
                backoff.reset()
            } catch let error as PostgresError {
                if !stopped { receive(.lost(message: error.message)) }
            } catch {
                if !stopped { receive(.lost(message: "\(error)")) }
            }
            // stop() cancels this wait. The loop then ends.
            try? await Task.sleep(for: backoff.next(random: Double.random(in: 0..<1)))
        }
    }

    /// Listens, and returns when the connection is lost. Throws if no connection could be opened.
    private func listen() async throws {
        let receive = receive
        let session = try await PostgresSession.connect(configuration, executor: executor) { channel, payload in
            receive(.notification(channel: channel, payload: payload))
        }
        guard !stopped else { return await session.close() }
        self.session = session
        defer { self.session = nil }
        do {
            let commands = channels.map { "LISTEN \(Self.quoted($0))" }.joined(separator: "; ")
            try await session.execute(commands, timeout: configuration.heartbeatTimeout)
        } catch {
            await session.close()
            throw error
        }
        receive(.listening)
        beginning.continuation.finish()
        let heartbeat = Task { await sendHeartbeats(session) }
        let message = await session.waitUntilClosed()
        heartbeat.cancel()
        if !stopped { receive(.lost(message: message)) }
    }

    private func sendHeartbeats(_ session: PostgresSession) async {
        while (try? await Task.sleep(for: configuration.heartbeatInterval)) != nil {
            do {
                try await session.execute("SELECT 1", timeout: configuration.heartbeatTimeout)
            } catch {
                return await session.close()
            }
        }
    }

    /// Returns an identifier in quotes, which preserve upper and lower case in a channel's name.
    private static func quoted(_ channel: String) -> String {
        var quoted = "\""
        for character in channel { quoted += character == "\"" ? "\"\"" : String(character) }
        return quoted + "\""
    }
}

/// An event of a listener.
package enum PostgresListenerEvent: Sendable, Equatable {
    /// LISTEN is active. This event comes at first and after each reconnection. Notifications sent before it may be
    /// lost, so the receiver has to read the current state.
    case listening
    case notification(channel: String, payload: String)
    /// The connection was lost or couldn't be opened. The listener tries again.
    case lost(message: String)
}
