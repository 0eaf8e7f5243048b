/// Gathers the requests of several callers into one call. Requests that arrive during a call wait for the next call, in
/// their order. Each caller waits for its own outcome.
///
/// ```
/// call ──► waiting (bounded) ──► perform: one call at a time, bounded ──► each caller's outcome
/// ```
///
/// A ``BatchWriter`` has no waiting callers and repeats failed writes. This type repeats nothing, but its callers may
/// call again.
package actor GatheredCalls<Item: Sendable, Outcome: Sendable> {
    /// Performs one call for all items. Returns one outcome for each item, in the order of the items. Throws an error
    /// if it applies to all items.
    package typealias Perform = @Sendable ([Item]) async throws -> [Result<Outcome, any Error>]

    private struct Waiting {
        let item: Item
        let bytes: Int
        let continuation: CheckedContinuation<Outcome, any Error>
    }

    private let limits: GatheringLimits
    private let executor: (any TaskExecutor)?
    private let perform: Perform
    /// The waiting requests, in the order of their arrival.
    private var waiting: [Waiting] = []
    private var waitingBytes = 0
    private var isPerforming = false

    /// - Parameter executor: The executor of the task that performs the calls.
    package init(
        _ limits: GatheringLimits, on executor: (any TaskExecutor)? = nil, _ perform: @escaping Perform
    ) {
        self.limits = limits
        self.executor = executor
        self.perform = perform
    }

    /// The number of waiting requests.
    var count: Int { waiting.count }

    /// Returns the outcome of a request. Throws the request's error, or a ``GatheringError``.
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
            // The task is detached, because one call works for many callers and therefore has no requester.
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
                // The call failed. Requests that were already waiting when it began fail too, instead of waiting for
                // another attempt.
                for one in some + take(atMost: behind) { one.continuation.resume(throwing: error) }
            }
        }
        isPerforming = false
    }

    /// Takes the requests for the next call. Takes at least one, even if it exceeds the limit of bytes.
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
    /// The maximum number of waiting requests. Further requests are refused.
    package var waitingItems: Int
    package var waitingBytes: Int
    /// The time that the first request waits for further requests.
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
    /// Too many requests wait, so this one wasn't performed.
    case full
    /// The call returned fewer outcomes than requests.
    case unanswered
}
