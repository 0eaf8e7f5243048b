import Basics
import Sockets
import TestSupport
import Testing

@Suite struct EventLoopTests {
    private final class Log {
        var entries: [Int] = []
    }

    private static func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop(index: 3, openSockets: SocketCount())
        await loop.start()
        await loop.start()
        do {
            try await body(loop)
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
        await loop.stop()
    }

    @Test("Work runs in the order of submission")
    func submission() async throws {
        try await Self.withLoop { loop in
            let key = LoopLocal<Log>()
            for number in 0..<1000 {
                loop.submit { key.value(on: $0, make: Log.init).entries.append(number) }
            }
            let entries = await loop.run { key.value(on: $0, make: Log.init).entries }
            #expect(entries == Array(0..<1000))
        }
    }

    @Test("Work returns its result or throws its error")
    func results() async throws {
        try await Self.withLoop { loop in
            #expect(await loop.run { $0.index } == 3)
            await #expect(throws: CancellationError.self) { try await loop.run { _ in throw CancellationError() } }
        }
    }

    @Test("Each loop has its own value")
    func locals() async throws {
        try await Self.withLoop { one in
            try await Self.withLoop { other in
                let key = LoopLocal<Log>()
                await one.run { key.value(on: $0, make: Log.init).entries.append(1) }
                #expect(await other.run { key.value(on: $0, make: Log.init).entries } == [])
                #expect(await one.run { key.value(on: $0, make: Log.init).entries } == [1])
            }
        }
    }

    @Test("Timers fire in order, and cancelled ones don't")
    func timers() async throws {
        try await Self.withLoop { loop in
            let fired = EventRecorder<Int>()
            await loop.run { reactor in
                reactor.schedule(after: .milliseconds(30)) { fired.append(3) }
                let cancelled = reactor.schedule(after: .milliseconds(10)) { fired.append(0) }
                reactor.schedule(after: .milliseconds(20)) { [unowned reactor] in
                    fired.append(2)
                    reactor.schedule(after: .zero) { fired.append(4) }
                }
                reactor.schedule(after: .milliseconds(-5)) { fired.append(1) }
                reactor.cancel(cancelled)
            }
            try await fired.next("the last timer") { $0 == 3 }
            try await fired.next("the timer's timer") { $0 == 4 }
            #expect(fired.all.filter { $0 < 4 } == [1, 2, 3])
        }
    }

    @Test("The time of a turn is that of its beginning")
    func turnTime() async throws {
        try await Self.withLoop { loop in
            let before = MonotonicTime.now()
            let (first, second) = await loop.run { reactor in
                let first = reactor.now
                while MonotonicTime.now() == first {}
                return (first, reactor.now)
            }
            #expect(first == second)
            #expect(before <= first)
        }
    }
}
