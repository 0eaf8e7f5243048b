import Dispatch
import Glibc
import Sockets
import TestSupport
import Testing

@Suite struct WatcherTests {
    @Test("A signal is an event, and no longer the process's end, for one watcher after the other")
    func signal() async throws {
        let queue = DispatchQueue(label: "signals")
        for _ in 0..<2 {
            let (heard, ready) = (EventRecorder<CInt>(), EventRecorder<CInt>())
            let watcher = SignalWatcher(SIGUSR2, on: queue) {
                heard.append(SIGUSR2)
            } ready: {
                ready.append(SIGUSR2)
            }
            try await ready.next("the watcher")
            for _ in 0..<3 {
                #expect(kill(getpid(), SIGUSR2) == 0)
                try await heard.next("the signal")
            }
            withExtendedLifetime(watcher) {}
        }
    }

    @Test("The clock is watched without a word while it runs evenly")
    func clockSteps() throws {
        let steps = EventRecorder<Int>()
        for _ in 0..<3 {
            let watcher = try ClockStepWatcher { steps.append(1) }
            withExtendedLifetime(watcher) {}
        }
        #expect(steps.all == [])
    }

    @Test("The limit of descriptors is raised as far as it goes")
    func descriptors() {
        let raised = FileDescriptorLimit.raise()
        #expect(raised >= 256)
        #expect(FileDescriptorLimit.raise() == raised)
    }
}
