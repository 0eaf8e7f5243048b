/// One effect that runs: from its channel's subscription to the end, or until it is cancelled.
struct EffectRun<O: OutputMapping, A: ActionMapping>: Sendable where O.Output == A.Output {
    private typealias Outcome = Result<O.Output, any Error>

    private enum Input: Sendable {
        case outcome(Outcome)
        case due
    }

    /// Events that may wait while a change is made.
    private static var maxWaiting: Int { 1024 }

    private let effect: ChannelEffect<O, A>
    private let store: Store<A.State, A.Action>
    private let time: ClientTime

    init(_ effect: ChannelEffect<O, A>, _ store: Store<A.State, A.Action>, time: ClientTime) {
        self.effect = effect
        self.store = store
        self.time = time
    }

    /// Returns when all is done, and the channel unsubscribed. Once its task is cancelled it changes nothing more.
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
            // It has fired, or found no place for its word.
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

    /// Returns at the channel's end, with what ended it.
    private func read(
        _ subscription: CableSubscription, into input: AsyncStream<Input>.Continuation
    ) async -> (any Error)? {
        // What is in the stream is still taken.
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
