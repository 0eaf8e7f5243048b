/// Items that are written in order, many at a time. This value handles the results of the writes and decides the next
/// step, and ``BatchWriter`` performs it.
///
/// ```
/// | outcome       | the batch                                                              |
/// |---------------|------------------------------------------------------------------------|
/// | `written`     | is done; after a rest, the next batch may have twice as many items     |
/// | `unavailable` | is repeated under its number after a pause, and dropped after `finish` |
/// | `refused`     | is split: half of its items get a new number; a single item is dropped |
/// | `failed`      | is repeated after a pause, up to `tries` times, and then dropped       |
/// ```
package struct BatchQueue<Item: Sendable>: Sendable {
    /// The items of one write.
    package struct Batch: Sendable {
        package let items: [Item]
        /// The batch's number, counted from 1. A repeated batch keeps its number, so that the destination recognises
        /// the batch.
        package let number: Int
    }

    package enum Step: Sendable {
        case write(Batch)
        /// Wait for this time before the next step, or until ``finish()`` is called.
        case pause(Duration)
        /// The queue is empty.
        case idle
    }

    private enum State {
        case ready
        /// A batch was written. The rest before the next batch hasn't been handed out yet.
        case resting
        /// A batch was handed out, and its outcome isn't known yet.
        case writing(Batch, failures: Int)
        /// A batch failed. The pause before its next attempt hasn't been handed out yet.
        case pausing(Batch, failures: Int)
        /// A batch failed, and the pause was handed out. After it, the batch is handed out again.
        case paused(Batch, failures: Int)
    }

    private let limits: BatchLimits
    /// The waiting items, as slices of the collections that were added. Slices avoid copying items again and again, and
    /// holding one large array after a burst. The first slices belong to the batch that is being written.
    private var waiting: [ArraySlice<Item>] = []
    /// The number of items that aren't written yet.
    package private(set) var count = 0
    private var state = State.ready
    private var batches = 0
    private var size: Int
    private var isFinishing = false

    package init(_ limits: BatchLimits) {
        self.limits = limits
        size = limits.itemsPerBatch
    }

    /// Adds all items. Adds none if the queue would exceed its limit.
    ///
    /// - Parameter evenIfFull: Whether to add the items even if the queue is full, for rare items that must not be
    ///   lost.
    /// - Returns: Whether the items were added.
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

    /// Ends the present pause and all later ones. From now on, items that the destination doesn't accept are dropped.
    package mutating func finish() {
        isFinishing = true
    }

    /// Returns the next step. After ``Step/write(_:)``, call ``wrote(_:)``.
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

    /// Handles the outcome of the batch that was handed out last.
    ///
    /// - Returns: The dropped items.
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
        // If all items are in one slice, no further copy is needed.
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

/// The limits of a queue and of one batch.
package struct BatchLimits: Sendable {
    package var itemsPerBatch: Int
    /// The maximum number of waiting items. Further items are dropped.
    package var waitingItems: Int
    package var retryPause: Duration
    /// The number of attempts for a batch that fails while the destination is available.
    package var tries: Int
    /// The pause between two batches, for items that aren't urgent and come in bursts. The pause is skipped if more
    /// than half of `waitingItems` wait.
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

/// The outcome of an attempt to write a batch.
package enum BatchOutcome: Sendable {
    case written
    /// The destination is unavailable. It is unknown whether the batch was written.
    case unavailable(any Error)
    /// The destination refused the batch and wrote nothing. One of the items may be the reason.
    case refused(any Error)
    case failed(any Error)

    package var error: (any Error)? {
        switch self {
        case .written: nil
        case .unavailable(let error), .refused(let error), .failed(let error): error
        }
    }
}
