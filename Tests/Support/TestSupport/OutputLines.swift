import Dispatch
import Glibc
import Postgres

/// A line that a child process wrote.
package struct OutputLine: Sendable, Equatable, CustomStringConvertible {
    package enum Stream: Sendable { case output, error }

    package let stream: Stream
    package let text: String

    package init(stream: Stream, text: String) {
        self.stream = stream
        self.text = text
    }

    package var description: String { text }
}

/// Splits what comes out of a pipe into lines.
///
/// `@unchecked Sendable`: used on the clients' queue only.
final class OutputLines: @unchecked Sendable {
    /// A longer line is recorded in pieces.
    private static let longestLine = 65_536

    private let descriptor: Int32
    private let stream: OutputLine.Stream
    private let take: @Sendable (OutputLine) -> Void
    private var source: ReadinessSource?
    private var partial: [UInt8] = []
    private var hasEnded = false

    /// Takes over `descriptor`, the non-blocking read end of a pipe, and calls `take` with each line. Throws if no descriptor is left to watch
    /// it with.
    init(
        _ descriptor: Int32, stream: OutputLine.Stream, queue: DispatchQueue,
        take: @escaping @Sendable (OutputLine) -> Void
    ) throws {
        self.descriptor = descriptor
        self.stream = stream
        self.take = take
        try queue.sync { try watch(on: queue) }
    }

    private func watch(on queue: DispatchQueue) throws {
        // The source keeps this object alive until the pipe ends or `stop` is called.
        source = ReadinessSource(queue: queue) { self.drain() }
        guard source?.watch(descriptor, for: .read) == true else {
            let failure = ClientFailure.system(call: "epoll_ctl", code: errno)
            source?.cancel()
            source = nil
            _ = Glibc.close(descriptor)
            throw failure
        }
    }

    /// Reads the bytes that are in the pipe now.
    func drain() {
        while !hasEnded {
            var failure: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                let size = read(descriptor, buffer.baseAddress, buffer.count)
                failure = size < 0 ? errno : 0
                count = max(0, size)
            }
            switch failure {
            case 0 where !chunk.isEmpty: split(chunk)
            case EINTR: continue
            case EAGAIN: return
            default: stop()
            }
        }
    }

    /// Records the rest of an unfinished line and closes the pipe. Idempotent.
    func stop() {
        guard !hasEnded else { return }
        hasEnded = true
        if !partial.isEmpty { record() }
        source?.cancel()
        source = nil
        _ = Glibc.close(descriptor)
    }

    private func split(_ chunk: [UInt8]) {
        for byte in chunk {
            if byte == 0x0A {
                record()
            } else {
                partial.append(byte)
                if partial.count == Self.longestLine { record() }
            }
        }
    }

    private func record() {
        take(OutputLine(stream: stream, text: String(decoding: partial, as: UTF8.self)))
        partial.removeAll(keepingCapacity: true)
    }
}
