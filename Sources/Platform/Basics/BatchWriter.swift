/// The destination of a ``BatchWriter``.
package protocol BatchDestination: Sendable {
    associatedtype Item: Sendable

    /// Tries once to write a batch. The writer may call this method again with the same batch and number.
    func write(_ batch: BatchQueue<Item>.Batch) async -> BatchOutcome
    /// Reports items that will never be written.
    /// - Parameter error: The reason, or `nil` if too many items waited.
    func dropped(_ items: [Item], _ error: (any Error)?) async
    /// Reports that the queue is empty. The default does nothing.
    func emptied() async
}

extension BatchDestination {
    package func emptied() async {}
}

/// Gathers items and writes them in order, many at a time, one batch after the other.
///
/// ```
/// add, submit ──► BatchQueue (bounded; further items are dropped) ──► destination
///                      ▲                                                  │
///                      └── repeated, split or dropped, by the outcome ────┘
/// ```
package actor BatchWriter<Destination: BatchDestination> {
    private let destination: Destination
    private var queue: BatchQueue<Destination.Item>
    /// Submitted items that haven't been moved to the queue yet.
    private let inbox = Locked<[Destination.Item]>([])
    private let pause = WakeableTimer()
    private let executor: (any TaskExecutor)?
    /// The task that writes. `nil` while the queue is empty.
    private var work: Task<Void, Never>?

    /// - Parameter executor: The executor of the tasks that write.
    package init(_ destination: Destination, limits: BatchLimits, on executor: (any TaskExecutor)? = nil) {
        self.destination = destination
        self.executor = executor
        queue = BatchQueue(limits)
    }

    /// Adds items after all items that were submitted before.
    ///
    /// - Parameter evenIfFull: Whether to add the items even if the queue is full.
    package func add(_ items: [Destination.Item], evenIfFull: Bool = false) async {
        await takeInbox()
        await enqueue(items, evenIfFull)
    }

    /// Adds items without waiting, from any thread. The items of one thread keep their order.
    package nonisolated func submit(_ items: [Destination.Item]) {
        let isFirst = inbox.withLock { inbox in
            let isFirst = inbox.isEmpty
            if isFirst { inbox = items } else { inbox += items }
            return isFirst
        }
        // The task of the first items also takes those that are submitted before it runs.
        guard isFirst else { return }
        // The task is detached, because a batch has items of many callers and therefore no requester.
        Task.detached(executorPreference: executor) { await self.takeInbox() }
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
        if work == nil { work = Task.detached(executorPreference: executor) { await self.empty() } }
    }

    /// Returns when the queue is empty. Drops the items that the destination doesn't accept.
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
