import Basics
import Dispatch
import Glibc

/// Writes lines to a descriptor on its own queue, so that a full pipe or slow disk never blocks the caller.
///
/// The number of waiting bytes is bounded. Further lines are dropped, and the next written line says how many. If the
/// descriptor fails (closed pipe, full disk), only the present lines are lost: the next lines are tried again.
package final class LogWriter: Sendable {
    /// The maximum number of waiting bytes: several thousand lines.
    static let maxWaitingBytes = 1_048_576
    /// The maximum size of one write.
    private static let batchBytes = 65_536
    /// The time in milliseconds that a write waits for a non-blocking descriptor.
    private static let patienceMilliseconds: Int32 = 1_000

    private struct Waiting {
        var lines: [UInt8] = []
        /// The number of bytes that are being written.
        var bytesUnderWay = 0
        var droppedLines = 0
        /// Whether the queue is already scheduled to write. It writes all waiting lines together, so a burst of lines
        /// causes few system calls and thread switches.
        var isAwaited = false
    }

    private let descriptor: Int32
    private let limit: Int
    private let queue = DispatchQueue(label: "log")
    private let waiting = Locked(Waiting())
    private let noteDropped: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - descriptor: The descriptor to write to. The caller owns it and keeps it open. The process must ignore
    ///     SIGPIPE.
    ///   - limit: The maximum number of waiting bytes.
    ///   - noteDropped: Returns the line that reports the number of dropped lines.
    init(descriptor: Int32, limit: Int = maxWaitingBytes, noteDropped: @escaping @Sendable (Int) -> [UInt8]) {
        self.descriptor = descriptor
        self.limit = limit
        self.noteDropped = noteDropped
    }

    /// Takes a line with its newline. Any thread may call this method. The call never waits for the descriptor.
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

    /// Waits until earlier lines are written, at most `patience`. This is for the exit of the process, not for event
    /// loops.
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
            // The report of dropped lines is the last of `lines`. If the report is lost, the number must be reported
            // again.
            waiting.droppedLines += lost > 0 && noted > 0 ? lost - 1 + noted : lost
        }
    }

    /// - Returns: The number of lines that the descriptor refused.
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
                    // Another program that shares standard output may have made it non-blocking.
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
