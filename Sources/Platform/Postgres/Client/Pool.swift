import Basics
import Dispatch

/// Performs the actions of `PoolStateMachine`. Everything runs on one serial queue, including the handlers of the
/// sockets.
actor Pool {
    typealias QueryID = PoolStateMachine.QueryID
    typealias ConnectionID = PoolStateMachine.ConnectionID

    nonisolated let executor: QueueExecutor
    nonisolated let taskExecutor: QueueTaskExecutor
    /// The executor for opening connections, which may block on a name lookup.
    let connectExecutor = QueueExecutor(label: "postgres.connect")
    let cancels = CancelSender()

    let configuration: PostgresConfiguration
    let settings: SessionSettings
    let observer: (any PostgresObserver)?
    var machine: PoolStateMachine
    var connections: [ConnectionID: PipelineConnection] = [:]
    /// The sockets of closed connections, until the server has closed its end too.
    var lingering: [ConnectionID: LingeringSocket] = [:]
    var attempts: [ConnectionID: Task<Void, Never>] = [:]
    var pending: [QueryID: PendingQuery] = [:]
    var lastQuery: QueryID = 0
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

    func counts() -> PostgresPoolCounts {
        machine.counts
    }

    func shutdown() async {
        perform(machine.shutDown(now: .now))
        guard !isStopped else { return }
        await withCheckedContinuation { stopWaiters.append($0) }
    }

    // MARK: - Actions

    /// Performs actions in order. If an action causes further actions, they are performed after the present ones.
    func perform(_ new: [PoolStateMachine.Action]) {
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
        case .discard(let id): lingering[id] = nil
        case .stopped:
            isStopped = true
            timer = nil
            lingering = [:]
            for waiter in stopWaiters { waiter.resume() }
            stopWaiters = []
        }
    }

    // MARK: - Time

    /// Sets the timer for `wakeAt`, unless it fires earlier anyway. An early timer is harmless.
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
        // The available answers are read first, because a delay of this process may look like silence of the server.
        for id in Array(connections.keys) where connections[id]?.hasInput == true { ready(id) }
        perform(machine.tick(.now))
    }
}
