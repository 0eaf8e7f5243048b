/// Where a ``BatchWriter`` writes.
package protocol BatchDestination: Sendable {
    associatedtype Item: Sendable

    /// One attempt. May be called again with the same batch, under the same number.
    func write(_ batch: BatchQueue<Item>.Batch) async -> BatchOutcome
    /// These will not be written.
    /// - Parameter error: Why; `nil` if too many waited.
    func dropped(_ items: [Item], _ error: (any Error)?) async
}

/// Gathers what comes, and writes it many at a time, in order, one batch after the other.
///
/// ```
/// add ──► BatchQueue (so many wait at most; what comes then is dropped) ──► destination
///              ▲                                                                │
///              └─── again, half of it, or never: by what became of it ──────────┘
/// ```
package actor BatchWriter<Destination: BatchDestination> {
    private let destination: Destination
    private var queue: BatchQueue<Destination.Item>
    private let pause = WakeableTimer()
    /// While anything waits.
    private var work: Task<Void, Never>?

    package init(_ destination: Destination, limits: BatchLimits) {
        self.destination = destination
        queue = BatchQueue(limits)
    }

    package func add(_ items: [Destination.Item]) async {
        guard !items.isEmpty else { return }
        guard queue.add(items) else { return await destination.dropped(items, nil) }
        if work == nil { work = Task { await self.empty() } }
    }

    /// Returns when nothing waits, or the destination doesn't take it.
    package func finish() async {
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
                return
            }
        }
    }
}
