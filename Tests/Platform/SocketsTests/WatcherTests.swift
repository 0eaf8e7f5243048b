import Dispatch
import Glibc
import TestSupport
import Testing

@testable import Sockets

@Suite struct WatcherTests {
    @Test("A signal becomes an event instead of ending the process, for one watcher after another")
    func signal() async throws {
        let queue = DispatchQueue(label: "signals")
        for _ in 0..<2 {
            let (signals, ready) = (EventRecorder<CInt>(), EventRecorder<CInt>())
            let watcher = SignalWatcher(SIGUSR2, on: queue) {
                signals.append(SIGUSR2)
            } ready: {
                ready.append(SIGUSR2)
            }
            try await ready.next("the watcher")
            for _ in 0..<3 {
                #expect(kill(getpid(), SIGUSR2) == 0)
                try await signals.next("the signal")
            }
            withExtendedLifetime(watcher) {}
        }
    }

    @Test("Only steps of the clock are reported")
    func clockSteps() async throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[1]) }
        let (looks, steps) = (EventRecorder<UInt8>(), EventRecorder<Int>())
        let watcher = ClockStepWatcher(ends[0]) { timer in
            var kind: UInt8 = 0
            guard read(timer, &kind, 1) == 1 else { return false }
            looks.append(kind)
            return kind == 1
        } stepped: {
            steps.append(1)
        }
        for kind in [0, 1, 0, 1] as [UInt8] {
            #expect(write(ends[1], [kind], 1) == 1)
            #expect(try await looks.next("a look") == kind)
            if kind == 1 { try await steps.next("the step") }
        }
        // The third look, which found no step, was before the last step. So it reported none.
        #expect(steps.all.count == 2)
        withExtendedLifetime(watcher) {}
    }

    @Test("The timer stays silent while the clock runs evenly")
    func restingTimer() throws {
        let timer = try ClockStepWatcher.makeTimer()
        defer { close(timer) }
        var state = pollfd(fd: timer, events: Int16(POLLIN), revents: 0)
        for _ in 0..<2 {
            #expect(poll(&state, 1, 0) == 0)
            #expect(!ClockStepWatcher.takeStep(from: timer))
        }
    }

    @Test("The limit of descriptors is raised to its maximum")
    func descriptors() {
        let raised = FileDescriptorLimit.raise()
        #expect(raised >= 256)
        #expect(FileDescriptorLimit.raise() == raised)
    }
}
