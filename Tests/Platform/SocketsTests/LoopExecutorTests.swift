import Dispatch
import Glibc
import Testing

@testable import Sockets

@Suite struct LoopExecutorTests {
    private static func isWoken(_ executor: LoopExecutor) -> Bool {
        var interest = pollfd(fd: executor.wakeUp, events: Int16(POLLIN), revents: 0)
        return poll(&interest, 1, 0) == 1
    }

    @Test("A waiting loop is woken once for new work")
    func wakeUp() async throws {
        let executor = try LoopExecutor(label: "test")
        #expect(!Self.isWoken(executor))
        #expect(executor.listen())
        await withCheckedContinuation { done in executor.submit { done.resume() } }
        #expect(Self.isWoken(executor))
        executor.clearWakeUp()
        #expect(!Self.isWoken(executor))
        await withCheckedContinuation { done in executor.submit { done.resume() } }
        #expect(!Self.isWoken(executor))
    }

    @Test("A loop doesn't wait while there is work")
    func waitingWork() async throws {
        let executor = try LoopExecutor(label: "test")
        let gate = DispatchSemaphore(value: 0)
        let (done, signal) = AsyncStream<Void>.makeStream()
        // The first job blocks the queue, so that the second waits.
        executor.submit { gate.wait() }
        executor.submit { signal.finish() }
        #expect(!executor.listen())
        gate.signal()
        for await _ in done {}
        #expect(executor.listen())
        #expect(!Self.isWoken(executor))
    }

    @Test("A loop that waits for sockets runs submitted work and actor calls")
    func submissions() async throws {
        let loop = try EventLoop(index: 0, openSockets: SocketCount())
        await loop.start()
        // Each submission either ends the loop's wait, or comes between two waits.
        for number in 0..<2000 {
            let sum = await withCheckedContinuation { done in loop.submit { done.resume(returning: $0.index + number) }
            }
            #expect(sum == number)
            #expect(await loop.run { $0.index } == 0)
        }
        await loop.stop()
    }
}
