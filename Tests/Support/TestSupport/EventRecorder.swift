import Dispatch
import Foundation

/// Records the events that callbacks report from any thread, and lets a test wait for them.
///
/// `next` takes the first event that fits and wasn't taken before. Events that it skips stay for later calls. The
/// newest `limit` events are kept.
///
/// `@unchecked Sendable`: all state is accessed with `lock` held. Only the waiters' conditions are called with it held.
package final class EventRecorder<Event: Sendable>: @unchecked Sendable {
    private struct Waiter {
        let what: String
        let condition: @Sendable (Event) -> Bool
        let continuation: CheckedContinuation<Event, any Error>
        let timer: DispatchWorkItem
    }

    private let lock = NSLock()
    private let limit: Int
    private var events: [(event: Event, isTaken: Bool)] = []
    /// All events before this index have been taken.
    private var firstUntaken = 0
    private var waiters: [(id: UInt64, waiter: Waiter)] = []
    /// Waits that were cancelled before they began.
    private var cancelledEarly: Set<UInt64> = []
    private var lastWait: UInt64 = 0
    private var isFinished = false

    package init(limit: Int = 10_000) {
        self.limit = max(1, limit)
    }

    /// Every event that is still kept, taken or not, oldest first.
    package var all: [Event] { lock.withLock { events.map(\.event) } }

    /// The newest events, `count` at most, oldest first.
    package func newest(_ count: Int) -> [Event] { lock.withLock { events.suffix(count).map(\.event) } }

    package func append(_ event: Event) {
        let waiter: Waiter? = lock.withLock {
            if events.count == limit {
                // Drops many events at a time, so that a full recorder doesn't shift the array for each event.
                let dropped = max(1, limit / 2)
                events.removeFirst(dropped)
                firstUntaken = max(0, firstUntaken - dropped)
            }
            let index = waiters.firstIndex { $0.waiter.condition(event) }
            events.append((event, isTaken: index != nil))
            return index.map { waiters.remove(at: $0).waiter }
        }
        waiter?.timer.cancel()
        waiter?.continuation.resume(returning: event)
    }

    /// Reports that no more events will come. Waits end with `ended` if no event fits.
    package func finish() {
        let (ended, received): ([Waiter], String) = lock.withLock {
            isFinished = true
            defer { waiters = [] }
            return (waiters.map(\.waiter), summary)
        }
        for waiter in ended {
            waiter.timer.cancel()
            waiter.continuation.resume(throwing: ClientFailure.ended(waitingFor: waiter.what, received: received))
        }
    }

    /// Returns the first event that wasn't taken and fulfils `condition`, which must not call the recorder. Fails after
    /// `allowed`. `what` is used in the failure's message.
    @discardableResult
    package func next(
        _ what: String = "an event", within allowed: Duration = Deadline.standard,
        where condition: @escaping @Sendable (Event) -> Bool = { _ in true }
    ) async throws -> Event {
        let id = lock.withLock {
            lastWait += 1
            return lastWait
        }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    begin(id, what, condition, continuation, Deadline(after: allowed))
                }
            } onCancel: {
                let isUnderWay = lock.withLock {
                    let isUnderWay = waiters.contains { $0.id == id }
                    if !isUnderWay { cancelledEarly.insert(id) }
                    return isUnderWay
                }
                if isUnderWay { fail(id) { _ in .cancelled(waitingFor: what) } }
            }
        } catch let failure as ClientFailure {
            throw failure.withEvidence
        }
    }

    private func begin(
        _ id: UInt64, _ what: String, _ condition: @escaping @Sendable (Event) -> Bool,
        _ continuation: CheckedContinuation<Event, any Error>, _ deadline: Deadline
    ) {
        let outcome: Result<Event, ClientFailure>? = lock.withLock {
            if cancelledEarly.remove(id) != nil { return .failure(.cancelled(waitingFor: what)) }
            while firstUntaken < events.count, events[firstUntaken].isTaken { firstUntaken += 1 }
            for index in firstUntaken..<events.count where !events[index].isTaken {
                guard condition(events[index].event) else { continue }
                events[index].isTaken = true
                return .success(events[index].event)
            }
            if isFinished { return .failure(.ended(waitingFor: what, received: summary)) }
            let timer = DispatchWorkItem { [weak self] in
                self?.fail(id) {
                    .timedOut(waitingFor: what, after: deadline.allowed, received: $0)
                }
            }
            waiters.append((id, Waiter(what: what, condition: condition, continuation: continuation, timer: timer)))
            ClientExecutor.shared.queue.asyncAfter(
                deadline: .now() + .nanoseconds(deadline.remainingNanoseconds), execute: timer)
            return nil
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    private func fail(_ id: UInt64, with failure: (_ summary: String) -> ClientFailure) {
        let (waiter, reason): (Waiter?, ClientFailure) = lock.withLock {
            let index = waiters.firstIndex { $0.id == id }
            return (index.map { waiters.remove(at: $0).waiter }, failure(summary))
        }
        waiter?.timer.cancel()
        waiter?.continuation.resume(throwing: reason)
    }

    /// The newest events, for a failure's message. The lock must be held.
    private var summary: String {
        let shown = events.suffix(20).map { "\($0.event)" }.joined(separator: "\n  ")
        return events.isEmpty ? "no event" : "\(events.count) events, the last:\n  \(shown)"
    }
}
