/// What is to be written somewhere, many at a time and in order, and what becomes of it: decides, and does nothing. ``BatchWriter``
/// drives it.
///
/// | outcome       | the batch                                                        |
/// |---------------|------------------------------------------------------------------|
/// | `written`     | done; the next may have twice as many items, after a rest        |
/// | `unavailable` | again after a pause, under its number; at the end it is dropped  |
/// | `refused`     | half of its items, under a new number; a single item is dropped  |
/// | `failed`      | again after a pause so many times, then dropped                  |
package struct BatchQueue<Item: Sendable>: Sendable {
    /// What is written at once.
    package struct Batch: Sendable {
        package let items: [Item]
        /// From 1. A batch that is written again has the number that it had, so that its destination can tell.
        package let number: Int
    }

    package enum Step: Sendable {
        case write(Batch)
        /// The destination, or who else needs the machine, gets so long; then it goes on, or earlier when the end begins.
        case pause(Duration)
        /// Nothing waits.
        case idle
    }

    private enum State {
        case ready
        /// One was written, and others may wait for their turn.
        case resting
        /// It has been handed out, and its outcome is awaited.
        case writing(Batch, failures: Int)
        /// Its pause is to be handed out.
        case pausing(Batch, failures: Int)
        /// Again, after the pause.
        case paused(Batch, failures: Int)
    }

    private let limits: BatchLimits
    /// In pieces, of a batch or as they came, so that a rush neither copies what waits again and again nor leaves a table for all of it. Those of the
    /// batch in hand are the first.
    private var waiting: [ArraySlice<Item>] = []
    /// Items that are not written yet.
    package private(set) var count = 0
    private var state = State.ready
    private var batches = 0
    private var size: Int
    private var isFinishing = false

    package init(_ limits: BatchLimits) {
        self.limits = limits
        size = limits.itemsPerBatch
    }

    /// Takes all of them, or none if that were more than may wait.
    ///
    /// - Parameter evenIfFull: They are taken anyhow: for what is seldom, and must not be lost.
    /// - Returns: Whether they were taken.
    package mutating func add(_ items: some Collection<Item>, evenIfFull: Bool = false) -> Bool {
        guard evenIfFull || count + items.count <= limits.waitingItems else { return false }
        count += items.count
        if let last = waiting.indices.last, waiting[last].count + items.count <= limits.itemsPerBatch {
            waiting[last] += items
        } else if !items.isEmpty {
            waiting.append(ArraySlice(items))
        }
        return true
    }

    /// From now on nobody waits for the destination: what it doesn't take is dropped.
    package mutating func finish() {
        isFinishing = true
    }

    /// What is to be done. After ``Step/write(_:)`` comes ``wrote(_:)``.
    package mutating func next() -> Step {
        switch state {
        case .resting where count > 0 && count <= limits.waitingItems / 2 && !isFinishing:
            state = .ready
            return .pause(limits.rest)
        case .ready, .resting:
            state = .ready
            guard count > 0 else { return .idle }
            batches += 1
            let batch = Batch(items: first(size), number: batches)
            state = .writing(batch, failures: 0)
            return .write(batch)
        case .pausing(let batch, let failures):
            state = .paused(batch, failures: failures)
            return .pause(limits.retryPause)
        case .paused(let batch, let failures), .writing(let batch, let failures):
            state = .writing(batch, failures: failures)
            return .write(batch)
        }
    }

    /// What became of the batch in hand.
    ///
    /// - Returns: What is dropped.
    package mutating func wrote(_ outcome: BatchOutcome) -> [Item] {
        guard case .writing(let batch, let failures) = state else { return [] }
        switch outcome {
        case .written:
            size = min(2 * size, limits.itemsPerBatch)
            leave(batch)
            if limits.rest > .zero { state = .resting }
            return []
        case .unavailable where !isFinishing:
            state = .pausing(batch, failures: failures)
            return []
        case .refused where batch.items.count > 1:
            size = batch.items.count / 2
            state = .ready
            return []
        case .failed where failures + 1 < limits.tries && !isFinishing:
            state = .pausing(batch, failures: failures + 1)
            return []
        case .unavailable, .refused, .failed:
            leave(batch)
            return batch.items
        }
    }

    private func first(_ size: Int) -> [Item] {
        // As it came, which copies nothing.
        if waiting.count == 1, count <= size { return Array(waiting[0]) }
        var items: [Item] = []
        items.reserveCapacity(min(size, count))
        for piece in waiting where items.count < size { items += piece.prefix(size - items.count) }
        return items
    }

    private mutating func leave(_ batch: Batch) {
        var left = batch.items.count
        count -= left
        while let piece = waiting.first, piece.count <= left {
            waiting.removeFirst()
            left -= piece.count
        }
        if left > 0 { waiting[0].removeFirst(left) }
        state = .ready
    }
}

/// How much is gathered, and how much of it is written at once.
package struct BatchLimits: Sendable {
    package var itemsPerBatch: Int
    /// What comes while so many wait is dropped.
    package var waitingItems: Int
    package var retryPause: Duration
    /// Of a batch that fails, while the destination is there.
    package var tries: Int
    /// Between two batches, unless half as many wait as may: for what isn't urgent, and comes in a rush when other things are.
    package var rest: Duration

    package init(
        itemsPerBatch: Int, waitingItems: Int, retryPause: Duration = .milliseconds(500), tries: Int = 1,
        rest: Duration = .zero
    ) {
        self.itemsPerBatch = itemsPerBatch
        self.waitingItems = waitingItems
        self.retryPause = retryPause
        self.tries = tries
        self.rest = rest
    }
}

/// What became of an attempt to write a batch.
package enum BatchOutcome: Sendable {
    case written
    /// The destination is away; whether the batch was written may be unknown.
    case unavailable(any Error)
    /// Nothing of it was written, and some item may be the reason.
    case refused(any Error)
    case failed(any Error)

    package var error: (any Error)? {
        switch self {
        case .written: nil
        case .unavailable(let error), .refused(let error), .failed(let error): error
        }
    }
}
