/// A state that changes by actions only, one after another.
///
/// ```swift
/// let store = Store<Int, Bool>(0) { count, goesUp in count += goesUp ? 1 : -1 }
/// await store.send([true, true])
/// for await count in store.states { print(count) }  // 2, then each later one
/// ```
public actor Store<State: Sendable, Action: Sendable> {
    /// What it is now: `await store.state`
    public private(set) var state: State
    private let reduce: @Sendable (inout State, Action) -> Void
    private var readers: [UInt64: AsyncStream<State>.Continuation] = [:]
    private var lastReader: UInt64 = 0

    /// A state, and how an action changes it.
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

    /// The state, and the newest one after each change: a reader that is slow misses those between.
    ///
    /// ```swift
    /// for await state in store.states { render(state) }
    /// ```
    public nonisolated var states: AsyncStream<State> {
        let (states, reader) = AsyncStream<State>.makeStream(bufferingPolicy: .bufferingNewest(1))
        Task { await self.add(reader) }
        return states
    }

    /// Does all of it as one change: nobody sees a state between.
    ///
    /// ```swift
    /// await store.send([.opened(chat), .read(chat)])
    /// ```
    public func send(_ actions: [Action]) {
        guard !actions.isEmpty else { return }
        for action in actions { reduce(&state, action) }
        for (number, reader) in readers { tell(reader, number) }
    }

    /// One change by what is made of the state as it is, with none between.
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
        tell(reader, number)
    }

    /// A stream may have been let go of before anybody asked to be told of its end.
    private func tell(_ reader: AsyncStream<State>.Continuation, _ number: UInt64) {
        if case .terminated = reader.yield(state) { readers[number] = nil }
    }

    private func remove(_ number: UInt64) {
        readers[number] = nil
    }
}
