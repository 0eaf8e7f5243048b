import Dispatch
import Glibc
import Postgres
import TestSupport
import Testing

@Suite struct ReadinessSourceTests {
    private let queue = DispatchQueue(label: "test.readiness")
    private let events = EventRecorder<String>()

    /// Two ends of a stream.
    private func pair() throws -> (near: Int32, far: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// Reads what has arrived and reports it.
    private func source(reading descriptor: Int32) throws -> ReadinessSource {
        let source = ReadinessSource(queue: queue) { [events] in
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = read(descriptor, &buffer, buffer.count)
            events.append(count < 0 ? "error" : String(decoding: buffer[..<count], as: UTF8.self))
        }
        return try #require(source)
    }

    @Test("Bytes are reported each time they arrive")
    func bytesAndEnd() async throws {
        let (near, far) = try pair()
        let source = try source(reading: near)
        #expect(source.watch(near, for: .read))
        for text in ["a", "b"] {
            #expect(write(far, text, 1) == 1)
            try await events.next(where: { $0 == text })
        }
        close(far)
        for _ in 0..<3 { try await events.next(where: \.isEmpty) }
        source.cancel()
        queue.sync {}
        close(near)
    }

    @Test("A socket that reuses a closed one's number is watched")
    func replaced() async throws {
        let (near, far) = try pair()
        let source = try source(reading: near)
        #expect(source.watch(near, for: .read))
        let (other, otherFar) = try pair()
        #expect(dup2(other, near) == near)
        #expect(source.watch(near, for: .read))
        #expect(write(otherFar, "c", 1) == 1)
        try await events.next(where: { $0 == "c" })
        source.cancel()
        queue.sync {}
        for descriptor in [near, far, other, otherFar] { close(descriptor) }
    }

    @Test("A closed descriptor can't be watched")
    func notOpen() throws {
        let source = try #require(ReadinessSource(queue: queue) {})
        #expect(!source.watch(-1, for: .read))
        source.cancel()
    }

    /// With a Dispatch source on the descriptor itself this ended the process now and then.
    @Test("Thousands of hang-ups while sockets are freed cause no crash")
    func hangUps() async throws {
        for _ in 0..<40 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<64 {
                    let (near, far) = try pair()
                    let queue = DispatchQueue(label: "test.readiness.hang-up")
                    group.addTask { try await Self.hangUp(near, far, on: queue) }
                }
                try await group.waitForAll()
            }
        }
    }

    private static func hangUp(_ near: Int32, _ far: Int32, on queue: DispatchQueue) async throws {
        let watch = try Watch(near, queue: queue)
        close(far)
        await watch.hangUp()
        close(near)
    }
}

/// Waits for one report and then cancels. Confined to the queue once it is created.
private final class Watch: @unchecked Sendable {
    private let queue: DispatchQueue
    private var source: ReadinessSource?
    private var waiter: CheckedContinuation<Void, Never>?
    private var wasReported = false

    init(_ descriptor: Int32, queue: DispatchQueue) throws {
        self.queue = queue
        try queue.sync {
            let source = try #require(ReadinessSource(queue: queue) { self.report() })
            self.source = source
            #expect(source.watch(descriptor, for: [.read, .write]))
        }
    }

    func hangUp() async {
        await withCheckedContinuation { waiter in
            queue.async {
                self.waiter = waiter
                self.resume()
            }
        }
    }

    private func report() {
        source?.cancel()
        source = nil
        wasReported = true
        resume()
    }

    private func resume() {
        guard wasReported, let waiter else { return }
        self.waiter = nil
        waiter.resume()
    }
}
