/// The named effects that run on a ``Store``.
///
/// ```swift
/// let effects = Effects<String, AppState, AppAction>(store)
/// await effects.run(notifications, as: "notifications")
/// await effects.cancel("notifications")
/// ```
public actor Effects<ID: Hashable & Sendable, State: Sendable, Action: Sendable> {
    private let store: Store<State, Action>
    private let time: ClientTime
    private var running: [ID: (number: UInt64, task: Task<Void, Never>)] = [:]
    private var lastNumber: UInt64 = 0

    /// Creates the effects of a store.
    ///
    /// ```swift
    /// let effects = Effects<String, AppState, AppAction>(store)
    /// ```
    public init(_ store: Store<State, Action>) {
        self.init(store, time: .system)
    }

    init(_ store: Store<State, Action>, time: ClientTime) {
        self.store = store
        self.time = time
    }

    deinit {
        for effect in running.values { effect.task.cancel() }
    }

    /// Runs an effect, unless an effect with the same name is running.
    ///
    /// ```swift
    /// await effects.run(chat, as: "chat 7")
    /// ```
    public func run<O, A>(_ effect: ChannelEffect<O, A>, as id: ID) where A.State == State, A.Action == Action {
        guard running[id] == nil else { return }
        lastNumber += 1
        let number = lastNumber
        let run = EffectRun(effect, store, time: time)
        let task = Task { [weak self] in
            await run.run()
            await self?.ended(id, number)
        }
        running[id] = (number, task)
    }

    /// Returns whether an effect with this name is running.
    func isRunning(_ id: ID) -> Bool { running[id] != nil }

    /// Ends an effect. After this method returns, the effect has unsubscribed and makes no further change.
    ///
    /// ```swift
    /// await effects.cancel("chat 7")
    /// ```
    ///
    /// - Returns: Whether the effect was running.
    @discardableResult
    public func cancel(_ id: ID) async -> Bool {
        guard let effect = running[id] else { return false }
        effect.task.cancel()
        await effect.task.value
        ended(id, effect.number)
        return true
    }

    /// Ends all running effects, as ``cancel(_:)`` does.
    ///
    /// ```swift
    /// await effects.cancelAll()
    /// ```
    public func cancelAll() async {
        let all = running
        for effect in all.values { effect.task.cancel() }
        for id in all.keys { await cancel(id) }
    }

    private func ended(_ id: ID, _ number: UInt64) {
        if running[id]?.number == number { running[id] = nil }
    }
}
