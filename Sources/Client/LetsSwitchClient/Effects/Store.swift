/// A state that only actions change, one after another.
///
/// ```swift
/// let store = Store<Int, Bool>(0) { count, goesUp in count += goesUp ? 1 : -1 }
/// await store.send([true, true])
/// for await count in store.states { print(count) }  // 2, then each later one
/// ```
public actor Store<State: Sendable, Action: Sendable> {
    /// The present state: `await store.state`
    public private(set) var state: State
    private let reduce: @Sendable (inout State, Action) -> Void
    private var readers: [UInt64: AsyncStream<State>.Continuation] = [:]
    private var lastReader: UInt64 = 0

    /// Creates a store with a state and a function that applies an action.
    ///
    /// ```swift
    /// let store = Store<Int, Bool>(0) { count, goesUp in count += goesUp ? 1 : -1 }
    /// ```
    public init(_ state: State, reduce: @escaping @Sendable (inout State, Action) -> Void) {
        self.state = state
        self.reduce = reduce
    }

    deinit {
        for reader in readers.values { reader.finish() }
    }

    /// The present state, followed by the newest state after each change. A slow reader misses intermediate states.
    ///
    /// ```swift
    /// for await state in store.states { render(state) }
    /// ```
    public nonisolated var states: AsyncStream<State> {
        let (states, reader) = AsyncStream<State>.makeStream(bufferingPolicy: .bufferingNewest(1))
        Task { await self.add(reader) }
        return states
    }

    /// Applies all actions as one change. Readers don't receive intermediate states.
    ///
    /// ```swift
    /// await store.send([.opened(chat), .read(chat)])
    /// ```
    public func send(_ actions: [Action]) {
        guard !actions.isEmpty else { return }
        for action in actions { reduce(&state, action) }
        for (number, reader) in readers { yieldState(reader, number) }
    }

    /// Applies the actions that a function returns for the present state, as one change.
    func change(_ actions: @Sendable (State) -> [Action]) {
        send(actions(state))
    }

    private func add(_ reader: AsyncStream<State>.Continuation) {
        lastReader += 1
        let number = lastReader
        readers[number] = reader
        reader.onTermination = { [weak self] _ in
            Task { await self?.remove(number) }
        }
        yieldState(reader, number)
    }

    /// Sends the state to a reader, and removes a reader whose stream has ended.
    private func yieldState(_ reader: AsyncStream<State>.Continuation, _ number: UInt64) {
        if case .terminated = reader.yield(state) { readers[number] = nil }
    }

    private func remove(_ number: UInt64) {
        readers[number] = nil
    }
}
