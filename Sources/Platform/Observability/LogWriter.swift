import Basics
import Dispatch
import Glibc

/// Carries lines to a descriptor on a queue of its own, so that a full pipe or a slow disk never holds up who logs.
///
/// What waits is bounded; beyond the bound lines are dropped, and the next line that gets through says how many.
/// A descriptor that fails (closed pipe, full disk) costs the lines, nothing more; it is tried again with the next.
package final class LogWriter: Sendable {
    /// Bytes that may wait: several thousand lines, or a second of a very bad day.
    static let maxWaitingBytes = 1_048_576
    /// One write takes at most this much: what it has taken has room for others.
    private static let batchBytes = 65_536
    /// How long one write waits for a non-blocking descriptor to take bytes.
    private static let patienceMilliseconds: Int32 = 1_000

    private struct Waiting {
        var lines: [UInt8] = []
        /// Taken from the lines, and not written yet.
        var bytesUnderWay = 0
        var droppedLines = 0
        /// Whether the queue will take what is there: a burst costs few system calls, and few thread switches.
        var isAwaited = false
    }

    private let descriptor: Int32
    private let limit: Int
    private let queue = DispatchQueue(label: "log")
    private let waiting = Locked(Waiting())
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

    /// Takes a line, newline included. Any thread; never waits for the descriptor.
    func write(_ line: [UInt8]) {
        let isFirst = waiting.withLock { waiting in
            guard waiting.bytesUnderWay + waiting.lines.count + line.count <= limit else {
                waiting.droppedLines += 1
                return false
            }
            waiting.lines.append(contentsOf: line)
            defer { waiting.isAwaited = true }
            return !waiting.isAwaited
        }
        if isFirst { queue.async { [self] in empty() } }
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
        let (lines, noted) = waiting.withLock { waiting in
            if waiting.droppedLines > 0 { waiting.lines += noteDropped(waiting.droppedLines) }
            defer { waiting = Waiting(bytesUnderWay: waiting.lines.count) }
            return (waiting.lines, waiting.droppedLines)
        }
        let lost = writeOut(lines)
        waiting.withLock { waiting in
            waiting.bytesUnderWay = 0
            // The note is the last of them. If it's lost, what it said is still to be told.
            waiting.droppedLines += lost > 0 && noted > 0 ? lost - 1 + noted : lost
        }
    }

    /// - Returns: How many lines the descriptor didn't take.
    private func writeOut(_ lines: [UInt8]) -> Int {
        lines.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let batch = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.batchBytes))
                let count = Glibc.write(descriptor, batch.baseAddress, batch.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                    waiting.withLock { $0.bytesUnderWay -= count }
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
            return rest.count { $0 == UInt8(ascii: "\n") }
        }
    }
}
