/// Runs an effect once: subscribes to its channel, applies the channel's events to the store, and unsubscribes. A run
/// ends when the channel ends, or when the task is cancelled.
struct EffectRun<O: OutputMapping, A: ActionMapping>: Sendable where O.Output == A.Output {
    private typealias Outcome = Result<O.Output, any Error>

    private enum Input: Sendable {
        case outcome(Outcome)
        case due
    }

    /// The maximum number of events that wait while a change is applied.
    private static var maxWaiting: Int { 1024 }

    private let effect: ChannelEffect<O, A>
    private let store: Store<A.State, A.Action>
    private let time: ClientTime

    init(_ effect: ChannelEffect<O, A>, _ store: Store<A.State, A.Action>, time: ClientTime) {
        self.effect = effect
        self.store = store
        self.time = time
    }

    /// Runs the effect until the channel ends, then unsubscribes and returns. After the task is cancelled, the effect
    /// makes no further change.
    func run() async {
        let subscription = await effect.channel()
        let (inputs, input) = AsyncStream<Input>.makeStream(bufferingPolicy: .bufferingOldest(Self.maxWaiting))
        let reading = Task { await read(subscription, into: input) }
        var gathering = Gathering<Outcome>(batch: effect.batch, quiet: effect.quiet)
        var timer: (due: Duration, task: Task<Void, Never>)?
        for await next in inputs {
            let now = time.now()
            if case .outcome(let outcome) = next { gathering.add(outcome, at: now) }
            await change(by: gathering.take(at: now))
            // Either the timer has fired, or the stream was full when the timer fired. In both cases the timer isn't
            // set any more.
            if let due = timer?.due, due <= now { timer = nil }
            guard let deadline = gathering.deadline else { continue }
            if let timer, timer.due <= deadline { continue }
            timer?.task.cancel()
            timer = (deadline, Task { [time] in if (try? await time.sleep(deadline)) != nil { input.yield(.due) } })
        }
        timer?.task.cancel()
        if Task.isCancelled { reading.cancel() }
        let failure = await reading.value
        await change(by: gathering.takeAll() + (failure.map { [.failure($0)] } ?? []))
        await subscription.unsubscribe()
    }

    private func change(by outcomes: [Outcome]) async {
        guard !outcomes.isEmpty, !Task.isCancelled else { return }
        await store.change { [effect] state in outcomes.flatMap { effect.actions(for: $0, in: state) } }
    }

    /// Reads the channel until its end. Returns the error that ended it, if there is one.
    private func read(
        _ subscription: CableSubscription, into input: AsyncStream<Input>.Continuation
    ) async -> (any Error)? {
        // Events that are in the stream already are still processed.
        defer { input.finish() }
        do {
            for try await event in subscription.events {
                guard let outcome = effect.result(of: event) else { continue }
                guard case .enqueued = input.yield(.outcome(outcome)) else { throw ClientError.bufferFull }
            }
            return nil
        } catch {
            return error
        }
    }
}
