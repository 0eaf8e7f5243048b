import Basics
import Dispatch

/// Performs what `PoolStateMachine` decides. All of it on one serial queue, on which the sockets' handlers run too.
actor Pool {
    typealias QueryID = PoolStateMachine.QueryID
    typealias ConnectionID = PoolStateMachine.ConnectionID

    /// A query that has not ended.
    private struct Pending {
        let statement: PostgresStatement
        let parameters: EncodedParameters
        /// The server's limit, when it isn't that of all.
        let limit: Duration?
        let submittedAt: ContinuousClock.Instant
        let waiter: CheckedContinuation<PostgresRows, any Error>
    }

    private nonisolated let executor: QueueExecutor
    nonisolated let taskExecutor: QueueTaskExecutor
    /// Where connections are opened, which may block on the resolution of a name.
    private let connectExecutor = QueueExecutor(label: "postgres.connect")
    private let cancels = CancelSender()

    private let configuration: PostgresConfiguration
    private let settings: SessionSettings
    private let observer: (any PostgresObserver)?
    private var machine: PoolStateMachine
    private var connections: [ConnectionID: PipelineConnection] = [:]
    /// Of connections that were hung up, until the server has ended them.
    private var lingering: [ConnectionID: LingeringSocket] = [:]
    private var attempts: [ConnectionID: Task<Void, Never>] = [:]
    private var pending: [QueryID: Pending] = [:]
    private var lastQuery: QueryID = 0
    private var actions: [PoolStateMachine.Action] = []
    private var isPerforming = false
    private var timer: QueueTimer?
    private var timerAt: ContinuousClock.Instant?
    private var stopWaiters: [CheckedContinuation<Void, Never>] = []
    private var isStopped = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(configuration: PostgresConfiguration, observer: (any PostgresObserver)?) {
        self.configuration = configuration
        self.observer = observer
        let serverLimit = configuration.queryTimeout + configuration.serverMargin
        settings = SessionSettings(
            configuration, statementTimeout: serverLimit, idleInTransactionTimeout: serverLimit)
        executor = QueueExecutor(label: "postgres.pool")
        taskExecutor = QueueTaskExecutor(executor.queue)
        self.machine = PoolStateMachine(configuration: configuration) { Double.random(in: 0..<1) }
    }

    func query(
        _ statement: PostgresStatement, _ parameters: EncodedParameters, timeout: Duration
    ) async throws -> PostgresRows {
        lastQuery += 1
        let id = lastQuery
        let limit = timeout == configuration.queryTimeout ? nil : timeout + configuration.serverMargin
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let now = ContinuousClock.now
                pending[id] = Pending(
                    statement: statement, parameters: parameters, limit: limit, submittedAt: now, waiter: waiter)
                perform(machine.submit(id, deadline: now + timeout, now: now))
            }
        } onCancel: {
            // Enters the actor after the submission, which runs on it without a pause.
            Task { await self.cancel(id) }
        }
    }

    func counts() -> PostgresPoolCounts {
        machine.counts
    }

    func shutdown() async {
        perform(machine.shutDown(now: .now))
        guard !isStopped else { return }
        await withCheckedContinuation { stopWaiters.append($0) }
    }

    private func cancel(_ id: QueryID) {
        guard let query = pending.removeValue(forKey: id) else { return }
        observer?.query(
            name: query.statement.name, duration: .now - query.submittedAt, outcome: .cancelled)
        query.waiter.resume(throwing: CancellationError())
        perform(machine.cancel(id, now: .now))
    }

    // MARK: - Actions

    /// Performing one action may bring about others: they queue up behind it.
    private func perform(_ new: [PoolStateMachine.Action]) {
        actions += new
        guard !isPerforming else { return }
        isPerforming = true
        var next = 0
        while next < actions.count {
            perform(actions[next])
            next += 1
        }
        actions.removeAll(keepingCapacity: true)
        isPerforming = false
        schedule()
    }

    private func perform(_ action: PoolStateMachine.Action) {
        switch action {
        case .connect(let id): connect(id)
        case .send(let query, on: let id): send(query, on: id)
        case .fail(let query, let failure): complete(query, .failure(PostgresError(failure)))
        case .cancelRunning(let id): cancelRunning(id)
        case .close(let id):
            attempts.removeValue(forKey: id)?.cancel()
            hangUp(id)
        case .forget(let id): lingering[id] = nil
        case .stopped:
            isStopped = true
            timer = nil
            lingering = [:]
            for waiter in stopWaiters { waiter.resume() }
            stopWaiters = []
        }
    }

    private func connect(_ id: ConnectionID) {
        attempts[id] = Task { [weak self, configuration, settings, connectExecutor] in
            do {
                let session = try await PostgresSession.connect(
                    configuration, settings: settings, executor: connectExecutor)
                await self?.opened(id, await session.release())
            } catch {
                let message = (error as? PostgresError)?.message ?? "\(error)"
                await self?.connectFailed(id, message)
            }
        }
    }

    private func opened(_ id: ConnectionID, _ handle: ConnectionHandle?) {
        // Without an attempt it has been given up meanwhile: the handle goes, and the connection with it.
        guard attempts.removeValue(forKey: id) != nil else { return }
        let connection = handle.flatMap { handle in
            PipelineConnection(handle, queue: executor.queue) { [weak self] in
                self?.assumeIsolated { $0.ready(id) }
            }
        }
        guard let connection else {
            let message = "the connection can't be used"
            observer?.connection(.failed, message: message)
            return perform(machine.connectFailed(id, message: message, now: .now))
        }
        connections[id] = connection
        observer?.connection(.opened, message: "")
        perform(machine.connected(id, now: .now))
    }

    private func connectFailed(_ id: ConnectionID, _ message: String) {
        guard attempts.removeValue(forKey: id) != nil else { return }
        observer?.connection(.failed, message: message)
        perform(machine.connectFailed(id, message: message, now: .now))
    }

    private func send(_ id: QueryID, on connection: ConnectionID) {
        guard let query = pending[id] else { return }
        let loss = connections[connection]?.send(id, query.statement, query.parameters, limit: query.limit)
        if let loss { lost(connection, loss) }
    }

    private func cancelRunning(_ id: ConnectionID) {
        if let request = connections[id]?.cancelRequest() { cancels.send { request.send() } }
    }

    /// Without a descriptor for it the server's end isn't seen, and counts when its time is up.
    private func hangUp(_ id: ConnectionID) {
        let socket = connections[id]?.linger(queue: executor.queue) { [weak self] in
            self?.assumeIsolated { $0.closed(id) }
        }
        // The last reference: libpq says goodbye.
        connections[id] = nil
        lingering[id] = socket
        socket?.hangUp()
    }

    // MARK: - Events

    private func ready(_ id: ConnectionID) {
        guard let (completions, loss) = connections[id]?.receive() else { return }
        for completion in completions {
            complete(completion.id, completion.result)
            perform(machine.finished(completion.id, on: id, health: completion.health, now: .now))
        }
        if let loss {
            lost(id, loss)
        } else if completions.isEmpty {
            perform(machine.received(id, now: .now))
        }
    }

    private func lost(_ id: ConnectionID, _ message: String) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        connection.close()
        observer?.connection(.lost, message: message)
        perform(machine.lost(id, message: message, now: .now))
    }

    private func closed(_ id: ConnectionID) {
        lingering[id] = nil
        perform(machine.closed(id, now: .now))
    }

    private func complete(_ id: QueryID, _ result: Result<PostgresRows, PostgresError>) {
        guard let query = pending.removeValue(forKey: id) else { return }
        if let observer {
            let outcome: PostgresQueryOutcome =
                switch result {
                case .success: .succeeded
                case .failure(let error): .failed(error.kind)
                }
            observer.query(name: query.statement.name, duration: .now - query.submittedAt, outcome: outcome)
        }
        query.waiter.resume(with: result.mapError { $0 as any Error })
    }

    // MARK: - Time

    /// Sets the timer when it would come too late; one that comes too early is harmless.
    private func schedule() {
        guard !isStopped, let wakeAt = machine.wakeAt else { return }
        if let timerAt, timerAt <= wakeAt { return }
        let timer =
            timer
            ?? QueueTimer(queue: executor.queue) { [weak self] in
                self?.assumeIsolated { $0.tick() }
            }
        self.timer = timer
        timerAt = wakeAt
        timer.schedule(after: wakeAt - .now)
    }

    private func tick() {
        timerAt = nil
        // Answers that are there are no silence: it may be this process that was held up.
        for id in Array(connections.keys) where connections[id]?.hasInput == true { ready(id) }
        perform(machine.tick(.now))
    }
}
