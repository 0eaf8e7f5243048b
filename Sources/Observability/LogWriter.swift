import Dispatch
import Glibc
import Synchronization

/// Carries lines to a descriptor on a queue of its own, so that a full pipe or a slow disk never holds up who logs.
///
/// What waits is bounded; beyond the bound lines are dropped, and the next line that gets through says how many.
/// A descriptor that fails (closed pipe, full disk) costs the lines, nothing more; it is tried again with the next.
package final class LogWriter: @unchecked Sendable {
    // Unchecked: `buffer` is used on `queue` only; all else is constant or atomic.

    /// Bytes that may wait: several thousand lines, or a second of a very bad day.
    static let maxWaitingBytes = 1_048_576
    /// One write takes at most about this much.
    private static let batchBytes = 65_536
    /// How long one write waits for a non-blocking descriptor to take bytes.
    private static let patienceMilliseconds: Int32 = 1_000

    private let descriptor: Int32
    private let limit: Int
    private let queue = DispatchQueue(label: "log")
    private let waitingBytes = Atomic<Int>(0)
    private let waitingLines = Atomic<Int>(0)
    private let droppedLines = Atomic<Int>(0)
    private var buffer: [UInt8] = []
    private let noteDropped: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - descriptor: Stays open and belongs to the caller. SIGPIPE must be ignored by the process.
    ///   - limit: Bytes that may wait.
    ///   - noteDropped: Makes the line that tells how many lines were dropped.
    init(descriptor: Int32, limit: Int = maxWaitingBytes, noteDropped: @escaping @Sendable (Int) -> [UInt8]) {
        self.descriptor = descriptor
        self.limit = limit
        self.noteDropped = noteDropped
    }

    /// Takes a line, newline included. Any thread; never blocks.
    func write(_ line: [UInt8]) {
        let waiting = waitingBytes.add(line.count, ordering: .relaxed).newValue
        guard waiting <= limit else {
            waitingBytes.subtract(line.count, ordering: .relaxed)
            droppedLines.add(1, ordering: .relaxed)
            return
        }
        waitingLines.add(1, ordering: .relaxed)
        queue.async { [self] in
            buffer.append(contentsOf: line)
            // The last of those that wait writes for all: a burst costs few system calls.
            let last = waitingLines.subtract(1, ordering: .relaxed).newValue == 0
            if last || buffer.count >= Self.batchBytes { empty() }
        }
    }

    /// Waits until what was logged before is written, but no longer than `patience`. Not for event loops: for the exit.
    ///
    /// - Returns: Whether everything was written in time.
    package func flush(within patience: Duration = .seconds(1)) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { [self] in
            empty()
            done.signal()
        }
        let (seconds, attoseconds) = patience.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        return done.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }

    private func empty() {
        dispatchPrecondition(condition: .onQueue(queue))
        let taken = buffer.count
        let dropped = droppedLines.exchange(0, ordering: .relaxed)
        if dropped > 0 { buffer.append(contentsOf: noteDropped(dropped)) }
        writeOut()
        buffer.removeAll(keepingCapacity: buffer.capacity <= 2 * Self.batchBytes)
        waitingBytes.subtract(taken, ordering: .relaxed)
    }

    private func writeOut() {
        buffer.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count < 0, errno == EINTR {
                    continue
                } else if count < 0, errno == EAGAIN {
                    // Standard output may be shared with a program that made it non-blocking.
                    var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    let ready = Glibc.poll(&poll, 1, Self.patienceMilliseconds)
                    if ready == 0 || (ready < 0 && errno != EINTR) { break }
                } else {
                    break
                }
            }
            if !rest.isEmpty { droppedLines.add(rest.count { $0 == UInt8(ascii: "\n") }, ordering: .relaxed) }
        }
    }
}
