import Basics

/// The work of a connection's thread: it connects, performs commands, reports the broker's frames, and reconnects.
/// ``ConnectionLife`` makes the decisions. The driver is used only on that thread.
final class ConnectionDriver {
    let configuration: AMQPConfiguration
    let mailbox: ConnectionMailbox
    let watchdog: SendWatchdog
    var life: ConnectionLife
    var confirms: PublisherConfirms?
    private let declarations: [AMQPDeclaration]
    private let report: (AMQPEvent) -> Void
    private var session: AMQPSession?
    private var connections = 0
    /// The time at which to repeat the declarations.
    private var declaresAt: MonotonicTime?
    /// Whether librabbitmq may hold frames in its memory. For these frames the socket doesn't become readable.
    private var hasMore = false
    /// Received frames that aren't reported yet.
    private var frames: [BrokerFrame] = []

    init(
        _ configuration: AMQPConfiguration, _ declarations: [AMQPDeclaration], _ mailbox: ConnectionMailbox,
        report: @escaping (AMQPEvent) -> Void
    ) {
        self.configuration = configuration
        self.declarations = declarations
        self.mailbox = mailbox
        self.report = report
        watchdog = SendWatchdog { mailbox.cut() }
        life = ConnectionLife(backoff: configuration.backoff, at: .now())
    }

    /// Returns when the connection has been stopped.
    func run() {
        while true {
            if mailbox.isStopping { life.end() }
            switch life.next(at: .now()) {
            case .connect: connect()
            case .wait(let until):
                DescriptorWait.wait(readable: [mailbox.wakeUp.descriptor], until: until)
                mailbox.wakeUp.clear()
            case .serve: serve()
            case .end: return end()
            }
        }
    }

    // MARK: - Life

    private func connect() {
        do throws(AMQPError) {
            connections += 1
            let session = try watchdog.watch(for: configuration.connectTimeout * 3, logIn)
            confirms = declarations.contains(.confirms) ? PublisherConfirms() : nil
            for declaration in declarations {
                try watchdog.watch(for: configuration.callTimeout * 2) { () throws(AMQPError) in
                    try session.declare(declaration)
                }
            }
            scheduleDeclarations()
            hasMore = true
            life.connected(at: .now())
            // The mailbox opens before the event is reported, because the receiver of the event may send commands
            // immediately.
            mailbox.open()
            report(.connected)
        } catch {
            lose(error)
        }
    }

    private func logIn() throws(AMQPError) -> AMQPSession {
        let session = try AMQPSession(configuration, number: connections)
        // The session is kept until `lose` or `end` has removed its socket from the mailbox. If the socket were closed
        // before, its number could be reused for another socket.
        self.session = session
        mailbox.setSocket(session.descriptor)
        try session.logIn()
        return session
    }

    private func lose(_ error: AMQPError) {
        mailbox.setSocket(nil)
        session = nil
        life.lost(at: .now(), random: .random(in: 0..<1))
        mailbox.close(.unavailable(error.message))
        report(.lost(message: error.message))
    }

    private func end() {
        mailbox.close(.unavailable("the connection has been stopped"))
        // The time is limited because a broker that blocks the connection doesn't answer.
        if let session {
            watchdog.watch(for: .milliseconds(500)) { session.close(within: .milliseconds(500)) }
        }
        mailbox.setSocket(nil)
        session = nil
    }

    private func serve() {
        guard let session else { return lose(.unavailable("there is no connection")) }
        do {
            mailbox.wakeUp.clear()
            try perform(mailbox.takeCommands(), on: session)
            if let declaresAt, declaresAt <= .now() { try declareAgain(on: session) }
            try receive(from: session)
        } catch {
            return lose(error)
        }
        guard !hasMore, !mailbox.hasWork else { return }
        // librabbitmq sends and checks heartbeats only while it is called, so the wait is at most half of a heartbeat.
        let pause = max(.milliseconds(500), configuration.heartbeat / 2)
        DescriptorWait.wait(
            readable: [mailbox.wakeUp.descriptor, session.descriptor],
            until: min(.now() + pause, declaresAt ?? .now() + pause))
    }

    private func scheduleDeclarations() {
        declaresAt = configuration.declaresEvery.map { .now() + $0 }
    }

    private func declareAgain(on session: AMQPSession) throws(AMQPError) {
        for declaration in declarations where declaration.isRepeatable {
            try watched { () throws(AMQPError) in try session.declare(declaration) }
        }
        scheduleDeclarations()
        // librabbitmq keeps frames that arrived before the answers.
        hasMore = true
    }

    /// Reports the received frames. The watchdog limits only the reading, so the receivers of the events have no time
    /// limit.
    func receive(from session: AMQPSession) throws(AMQPError) {
        defer {
            for frame in frames { take(frame) }
            frames.removeAll(keepingCapacity: true)
        }
        hasMore = try watchdog.watch(for: configuration.callTimeout) { () throws(AMQPError) in
            try session.receive { frames.append($0) }
        }
    }

    /// Waits for frames, a command, or the deadline. Then takes the received frames.
    ///
    /// - Parameter orRoom: Whether to return also when the socket can take bytes.
    func awaitFrames(from session: AMQPSession, orRoom: Bool = false, until deadline: MonotonicTime) throws(AMQPError) {
        if !hasMore {
            DescriptorWait.wait(
                readable: [session.descriptor, mailbox.wakeUp.descriptor], writable: orRoom ? session.descriptor : -1,
                until: deadline)
            // A command has arrived, but it has to wait for the present one. The wake-up is cleared, because otherwise
            // the loop would never sleep. `hasWork` shows the command afterwards.
            mailbox.wakeUp.clear()
        }
        try receive(from: session)
    }

    private func take(_ frame: BrokerFrame) {
        switch frame {
        case .delivered(let delivery): report(.delivered(delivery))
        case .blocked(let reason):
            life.blocked(reason)
            report(.blocked(reason: reason))
        case .unblocked:
            life.unblocked()
            report(.unblocked)
        case .confirmed(let tag, let multiple): confirms?.answer(tag, multiple: multiple, isConfirmed: true)
        case .rejected(let tag, let multiple): confirms?.answer(tag, multiple: multiple, isConfirmed: false)
        }
    }

    // MARK: - Commands

    /// - Throws: The error that ends the connection. All callers of the commands have been resumed before.
    private func perform(_ commands: [ConnectionCommand], on session: AMQPSession) throws(AMQPError) {
        var rest = commands[...]
        while let command = rest.popFirst() {
            do {
                try perform(command, on: session)
            } catch {
                for command in rest { command.fail(.unavailable(error.message)) }
                throw error
            }
        }
    }

    private func perform(_ command: ConnectionCommand, on session: AMQPSession) throws(AMQPError) {
        switch command {
        case .publish(let messages, let caller):
            try answer(caller) { () throws(AMQPError) in try publish(messages, on: session) }
        // A tag of an earlier connection is ignored, because on this connection it means another message.
        case .acknowledge(let delivery) where delivery.connection == session.number:
            try watched { () throws(AMQPError) in try session.acknowledge(delivery.tag) }
        case .reject(let delivery, let isPutBack) where delivery.connection == session.number:
            try watched { () throws(AMQPError) in try session.reject(delivery.tag, isPutBack: isPutBack) }
        case .acknowledge, .reject: break
        case .declare: try declareAgain(on: session)
        case .reconnect(let reason): throw .unavailable(reason)
        }
    }

    /// - Throws: The error that ended the connection, after the caller was resumed.
    private func answer(_ caller: ConnectionCommand.Caller, _ work: () throws(AMQPError) -> ConnectionCommand.Outcome)
        throws(AMQPError)
    {
        do {
            caller.resume(returning: try work())
        } catch {
            caller.resume(returning: .failure(error))
            throw error
        }
    }

    func watched(_ work: () throws(AMQPError) -> Void) throws(AMQPError) {
        try watchdog.watch(for: configuration.callTimeout * 2, work)
    }
}
