import Basics

/// A pipe for the log of a daemon that runs in the test's own process. The daemon writes, and ``lines`` has what it wrote.
///
/// A log may write a line after its daemon has stopped. The descriptor therefore stays open and serves a later daemon: another connection
/// with that number would receive the line.
package final class LogPipe: Sendable {
    private static let idle = Locked<[LogPipe]>([])

    /// The write end, to which the daemon logs.
    package let descriptor: Int32
    private let recorder = Locked(LogPipe.makeRecorder())

    private init() throws {
        let pipe = try ChildStream.pipe()
        descriptor = pipe.theirs
        // The reader lives until the pipe ends, which is the end of the process.
        _ = try OutputLines(pipe.ours, stream: .output, queue: ClientExecutor.shared.queue) { [weak self] line in
            self?.lines.append(line)
        }
    }

    private static func makeRecorder() -> EventRecorder<OutputLine> { EventRecorder(limit: 2 * Evidence.logLines) }

    /// The newest lines of the present daemon.
    package var lines: EventRecorder<OutputLine> { recorder.withLock { $0 } }

    /// Returns a pipe that no daemon uses.
    package static func take() throws -> LogPipe {
        try idle.withLock { $0.popLast() } ?? LogPipe()
    }

    /// Gives the pipe to a later daemon.
    package func release() {
        recorder.withLock { $0 = Self.makeRecorder() }
        Self.idle.withLock { $0.append(self) }
    }
}
