/// Where a ``BatchWriter`` writes.
package protocol BatchDestination: Sendable {
    associatedtype Item: Sendable

    /// One attempt. May be called again with the same batch, under the same number.
    func write(_ batch: BatchQueue<Item>.Batch) async -> BatchOutcome
    /// These will not be written.
    /// - Parameter error: Why; `nil` if too many waited.
    func dropped(_ items: [Item], _ error: (any Error)?) async
    /// Nothing waits any more. Does nothing unless it is implemented.
    func emptied() async
}

extension BatchDestination {
    package func emptied() async {}
}

/// Gathers what comes, and writes it many at a time, in order, one batch after the other.
///
/// ```
/// add, submit ──► BatchQueue (so many wait at most; what comes then is dropped) ──► destination
///                      ▲                                                                │
///                      └─── again, half of it, or never: by what became of it ──────────┘
/// ```
package actor BatchWriter<Destination: BatchDestination> {
    private let destination: Destination
    private var queue: BatchQueue<Destination.Item>
    /// What was submitted and isn't in the queue yet.
    private let inbox = Locked<[Destination.Item]>([])
    private let pause = WakeableTimer()
    private let executor: (any TaskExecutor)?
    /// While anything waits.
    private var work: Task<Void, Never>?

    /// - Parameter executor: Of the tasks that write.
    package init(_ destination: Destination, limits: BatchLimits, on executor: (any TaskExecutor)? = nil) {
        self.destination = destination
        self.executor = executor
        queue = BatchQueue(limits)
    }

    /// After all that was submitted before.
    ///
    /// - Parameter evenIfFull: They are never dropped because too many wait.
    package func add(_ items: [Destination.Item], evenIfFull: Bool = false) async {
        await takeInbox()
        await enqueue(items, evenIfFull)
    }

    /// The same, for who can't wait. Any thread; what one thread submits stays in its order.
    package nonisolated func submit(_ items: [Destination.Item]) {
        inbox.withLock { if $0.isEmpty { $0 = items } else { $0 += items } }
        Task(executorPreference: executor) { await self.takeInbox() }
    }

    private func takeInbox() async {
        let items = inbox.withLock { inbox in
            defer { inbox = [] }
            return inbox
        }
        await enqueue(items)
    }

    private func enqueue(_ items: [Destination.Item], _ evenIfFull: Bool = false) async {
        guard !items.isEmpty else { return }
        guard queue.add(items, evenIfFull: evenIfFull) else { return await destination.dropped(items, nil) }
        if work == nil { work = Task(executorPreference: executor) { await self.empty() } }
    }

    /// Returns when nothing waits, or the destination doesn't take it.
    package func finish() async {
        await takeInbox()
        queue.finish()
        await pause.wake()
        await work?.value
    }

    private func empty() async {
        while true {
            switch queue.next() {
            case .write(let batch):
                let outcome = await destination.write(batch)
                let dropped = queue.wrote(outcome)
                if !dropped.isEmpty { await destination.dropped(dropped, outcome.error) }
            case .pause(let duration):
                await pause.sleep(for: duration)
            case .idle:
                work = nil
                return await destination.emptied()
            }
        }
    }
}
