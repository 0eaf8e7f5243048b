/// Gathers what several ask for, and asks for it together: what comes while one call is under way goes with the next, in the order in
/// which it came. Each waits for its own outcome.
///
/// ```
/// call ──► waiting (so much at most) ──► perform: one at a time, so much at once ──► to each its own
/// ```
///
/// No ``BatchWriter``: nobody waits for what that one writes, and it tries again. Here nothing is tried again; whoever asked may.
package actor GatheredCalls<Item: Sendable, Outcome: Sendable> {
    /// Asks for all of them; answers with as many outcomes, in their order, or throws what happened to all alike.
    package typealias Perform = @Sendable ([Item]) async throws -> [Result<Outcome, any Error>]

    private struct Waiting {
        let item: Item
        let bytes: Int
        let continuation: CheckedContinuation<Outcome, any Error>
    }

    private let limits: GatheringLimits
    private let executor: (any TaskExecutor)?
    private let perform: Perform
    /// In the order in which they came.
    private var waiting: [Waiting] = []
    private var waitingBytes = 0
    private var isPerforming = false

    /// - Parameter executor: Of the task that performs.
    package init(
        _ limits: GatheringLimits, on executor: (any TaskExecutor)? = nil, _ perform: @escaping Perform
    ) {
        self.limits = limits
        self.executor = executor
        self.perform = perform
    }

    /// So many wait.
    var count: Int { waiting.count }

    /// Returns what became of it. Throws that too, and ``GatheringError``.
    ///
    /// - Parameter bytes: How long it is.
    package func call(_ item: Item, bytes: Int = 0) async throws -> Outcome {
        guard waiting.count < limits.waitingItems, waitingBytes + bytes <= limits.waitingBytes else {
            throw GatheringError.full
        }
        return try await withCheckedThrowingContinuation { continuation in
            waiting.append(Waiting(item: item, bytes: bytes, continuation: continuation))
            waitingBytes += bytes
            guard !isPerforming else { return }
            isPerforming = true
            Task(executorPreference: executor) { await self.performAll() }
        }
    }

    private func performAll() async {
        while !waiting.isEmpty {
            if limits.delay > .zero { try? await Task.sleep(for: limits.delay) }
            let some = take()
            let behind = waiting.count
            do {
                let outcomes = try await perform(some.map(\.item))
                for (index, one) in some.enumerated() {
                    one.continuation.resume(
                        with: index < outcomes.count ? outcomes[index] : .failure(GatheringError.unanswered))
                }
            } catch {
                // What has waited as long and had no room has waited long enough.
                for one in some + take(atMost: behind) { one.continuation.resume(throwing: error) }
            }
        }
        isPerforming = false
    }

    /// What goes next: one at least.
    private func take() -> [Waiting] {
        var (count, bytes) = (0, 0)
        for next in waiting.prefix(limits.itemsPerCall) {
            bytes += next.bytes
            guard count == 0 || bytes <= limits.bytesPerCall else { break }
            count += 1
        }
        return take(atMost: count)
    }

    private func take(atMost count: Int) -> [Waiting] {
        let first = Array(waiting.prefix(count))
        waiting.removeFirst(first.count)
        for one in first { waitingBytes -= one.bytes }
        return first
    }
}

/// How much is gathered, and how much of it is asked for at once.
package struct GatheringLimits: Sendable {
    package var itemsPerCall: Int
    package var bytesPerCall: Int
    /// What comes while so much waits is refused.
    package var waitingItems: Int
    package var waitingBytes: Int
    /// For others to come along with the first.
    package var delay: Duration

    package init(
        itemsPerCall: Int, bytesPerCall: Int = .max, waitingItems: Int, waitingBytes: Int = .max,
        delay: Duration = .zero
    ) {
        self.itemsPerCall = itemsPerCall
        self.bytesPerCall = bytesPerCall
        self.waitingItems = waitingItems
        self.waitingBytes = waitingBytes
        self.delay = delay
    }
}

package enum GatheringError: Error {
    /// Too much waits; nothing was asked for.
    case full
    /// Fewer outcomes came than were asked for.
    case unanswered
}
