import Basics
package import Postgres
package import Rooms

/// The bus over PostgreSQL's NOTIFY: one connection listens, and the other one sends.
///
/// ```
/// send ──► NotifySender ──► SELECT pg_notify(…) ──► PostgreSQL ──► PostgresListener ──► NotifyInbox ──► receive
/// ```
///
/// Notifications arrive in the order of commits, and within a transaction in the order of calls. One connection sends,
/// so packets arrive in the order of `send`. Each daemon listens to a common channel and to its own.
///
/// The bus may be started again after ``stop()``. Another bus with the same id may be started then, too.
package actor NotifyBus: Bus {
    private static let connectPatience = Duration.seconds(10)
    /// The statements' names in metrics.
    package static let statementNames = NotifySender.statementNames

    /// The state from a start to the next stop.
    private struct Run {
        let number: Int
        let listener: PostgresListener
        let sender: NotifySender
        let receive: @Sendable (BusEvent) -> Void
        var link = NotifyLink()
        var asking: Task<Void, Never>?
    }

    /// The pauses between two attempts to connect.
    static let retries = Backoff(minimum: .milliseconds(50), maximum: .milliseconds(500))

    package nonisolated let packetSize = NotifySender.packetSize
    private nonisolated let executor = QueueExecutor(label: "letsswitch.bus")
    private let id: DaemonID
    private let configuration: PostgresConfiguration
    private let observer: (any PostgresObserver)?
    private var inbox: NotifyInbox
    private var run: Run?
    private var runs = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    /// - id: The id of this daemon's run.
    /// - configuration: The address of the database. Other settings don't apply to these connections.
    /// - patience: How long the server may be silent before a connection counts as dead.
    /// - observer: Observes the sender's statements and connections, `bus_notify` and `bus_ping`.
    package init(
        _ id: DaemonID, _ configuration: PostgresConfiguration, patience: Duration = .seconds(3),
        observer: (any PostgresObserver)? = nil
    ) {
        self.id = id
        self.configuration = Self.adapted(configuration, patience)
        self.observer = observer
        inbox = NotifyInbox(own: id)
    }

    private static func adapted(_ given: PostgresConfiguration, _ patience: Duration) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(
            conninfo: given.conninfo, applicationName: "\(given.applicationName) bus")
        // Longer than for requests. Otherwise the bus would never connect on a very slow machine.
        configuration.connectTimeout = max(given.connectTimeout, connectPatience)
        configuration.maxConnections = 1
        configuration.queryTimeout = patience + .seconds(2)
        configuration.stallTimeout = patience
        configuration.shutdownTimeout = .seconds(1)
        configuration.maxBackoff = .milliseconds(500)
        configuration.listenerMaxBackoff = .milliseconds(500)
        // Detects a connection that is silently lost, on either side.
        configuration.heartbeatInterval = .seconds(5)
        configuration.heartbeatTimeout = patience
        // A transaction with NOTIFY writes a commit, which needn't wait for the disk.
        configuration.sessionSettings = ["synchronous_commit": "off"]
        return configuration
    }

    // MARK: Life

    package func start(_ receive: @escaping @Sendable (BusEvent) -> Void) async {
        guard run == nil else { return }
        runs += 1
        let number = runs
        // Events come on our own queue. Notifications that arrive faster than they are handled wait in the database.
        let listener = PostgresListener(configuration: configuration, channels: inbox.channels, executor: executor) {
            [weak self] event in
            self?.assumeIsolated { $0.receive(event, in: number) }
        }
        run = Run(
            number: number, listener: listener, sender: NotifySender(id, configuration, observer: observer),
            receive: receive)
        askSender()
        await listener.start()
    }

    package func stop() async {
        guard let run else { return }
        self.run = nil
        run.asking?.cancel()
        await run.listener.stop()
        await run.sender.shutdown()
    }

    // MARK: Sending

    /// Takes at most five seconds.
    package func send(_ packets: [BusPacket]) async throws(BusError) {
        guard let run, run.link.isUp else { throw .unavailable }
        try await run.sender.send(packets) { lose($0, stillListens: true, in: run.number) }
    }

    /// Tests the sender's connection repeatedly until it works.
    private func askSender() {
        guard let run, run.asking == nil else { return }
        self.run?.asking = Task {
            var backoff = Self.retries
            while !Task.isCancelled {
                if await run.sender.answers() { return senderAnswers(in: run.number) }
                // Only stop() cancels this sleep. The loop ends then.
                try? await Task.sleep(for: backoff.next(random: .random(in: 0..<1)))
            }
        }
    }

    private func senderAnswers(in number: Int) {
        guard run?.number == number else { return }
        run?.asking = nil
        report(run?.link.sending())
    }

    // MARK: Receiving

    private func receive(_ event: PostgresListenerEvent, in number: Int) {
        guard let run, run.number == number else { return }
        switch event {
        case .listening:
            report(self.run?.link.listening())
        case .lost(let message):
            lose(message, stillListens: false, in: number)
        case .notification(let name, let payload):
            // Other daemons don't count on us before both connections work.
            guard run.link.isUp else { return }
            guard let (sender, packets) = inbox.receive(payload, onChannelNamed: name) else { return }
            for packet in packets { run.receive(.received(from: sender, packet)) }
        }
    }

    private func lose(_ message: String, stillListens: Bool, in number: Int) {
        guard run?.number == number else { return }
        report(run?.link.lost(message, stillListens: stillListens))
        askSender()
    }

    private func report(_ event: BusEvent?) {
        if let event { run?.receive(event) }
    }
}
