import Basics

/// The work of a connection's thread: connects, performs commands, reports the broker's frames, and reconnects.
/// ``ConnectionLife`` decides. Used only on that thread.
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
    /// The time of the next repeated declarations.
    private var declaresAt: MonotonicTime?
    /// Whether the library may hold frames that the socket doesn't show.
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
            // A receiver of the event may send commands at once.
            mailbox.open()
            report(.connected)
        } catch {
            lose(error)
        }
    }

    private func logIn() throws(AMQPError) -> AMQPSession {
        let session = try AMQPSession(configuration, number: connections)
        // Kept until the mailbox drops its socket, whatever fails, because the number of a closed socket may be reused.
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
        // A blocked broker wouldn't answer.
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
        // Heartbeats are sent and checked only within calls.
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
        // The library keeps frames that came before the answers.
        hasMore = true
    }

    /// Reports received frames. Receivers may take their time; only the broker is watched meanwhile.
    func receive(from session: AMQPSession) throws(AMQPError) {
        defer {
            for frame in frames { take(frame) }
            frames.removeAll(keepingCapacity: true)
        }
        hasMore = try watchdog.watch(for: configuration.callTimeout) { () throws(AMQPError) in
            try session.receive { frames.append($0) }
        }
    }

    /// Waits for frames or commands, and takes them.
    ///
    /// - Parameter orRoom: Whether it also returns when bytes can be sent.
    func awaitFrames(from session: AMQPSession, orRoom: Bool = false, until deadline: MonotonicTime) throws(AMQPError) {
        if !hasMore {
            DescriptorWait.wait(
                readable: [session.descriptor, mailbox.wakeUp.descriptor], writable: orRoom ? session.descriptor : -1,
                until: deadline)
            // A wake-up announces a command, which must wait, so the loop must not spin on it. The command is found
            // afterwards without a wake-up.
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

    /// - Throws: The error that ends the connection. All callers have been resumed.
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
        // The tag of an earlier connection would acknowledge another message.
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
