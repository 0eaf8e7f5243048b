/// Gathers the requests of several callers into one call. Requests that arrive during a call go with the next one, in
/// their order. Each caller waits for its own outcome.
///
/// ```
/// call ──► waiting (bounded) ──► perform: one call at a time, bounded ──► each caller's outcome
/// ```
///
/// A ``BatchWriter`` is different: no caller waits for its writes, and it repeats failed ones. This type repeats nothing; its
/// callers can.
package actor GatheredCalls<Item: Sendable, Outcome: Sendable> {
    /// Performs one call for all items. Returns one outcome for each, in their order, or throws an error that holds for
    /// all.
    package typealias Perform = @Sendable ([Item]) async throws -> [Result<Outcome, any Error>]

    private struct Waiting {
        let item: Item
        let bytes: Int
        let continuation: CheckedContinuation<Outcome, any Error>
    }

    private let limits: GatheringLimits
    private let executor: (any TaskExecutor)?
    private let perform: Perform
    /// In the order of arrival.
    private var waiting: [Waiting] = []
    private var waitingBytes = 0
    private var isPerforming = false

    /// - Parameter executor: The executor of the task that performs.
    package init(
        _ limits: GatheringLimits, on executor: (any TaskExecutor)? = nil, _ perform: @escaping Perform
    ) {
        self.limits = limits
        self.executor = executor
        self.perform = perform
    }

    /// The number of waiting requests.
    var count: Int { waiting.count }

    /// Returns the outcome of the request. Throws its error or a ``GatheringError``.
    ///
    /// - Parameter bytes: The size of the request.
    package func call(_ item: Item, bytes: Int = 0) async throws -> Outcome {
        guard waiting.count < limits.waitingItems, waitingBytes + bytes <= limits.waitingBytes else {
            throw GatheringError.full
        }
        return try await withCheckedThrowingContinuation { continuation in
            waiting.append(Waiting(item: item, bytes: bytes, continuation: continuation))
            waitingBytes += bytes
            guard !isPerforming else { return }
            isPerforming = true
            // Detached, because one call works for many callers and has no requester.
            Task.detached(executorPreference: executor) { await self.performAll() }
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
                // The call failed. Requests that already waited during it fail too, instead of waiting for another
                // attempt.
                for one in some + take(atMost: behind) { one.continuation.resume(throwing: error) }
            }
        }
        isPerforming = false
    }

    /// Takes the requests of the next call: at least one.
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

/// The limits of waiting requests and of one call.
package struct GatheringLimits: Sendable {
    package var itemsPerCall: Int
    package var bytesPerCall: Int
    /// Further requests are refused.
    package var waitingItems: Int
    package var waitingBytes: Int
    /// The time that the first request waits for others.
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
    /// Too many requests wait. This one was not sent.
    case full
    /// The call returned too few outcomes.
    case unanswered
}
