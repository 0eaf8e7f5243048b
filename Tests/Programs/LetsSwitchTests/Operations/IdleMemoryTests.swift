import Basics
import Testing

@testable import LetsSwitch

/// When the daemon returns unused memory to the system.
@Suite struct IdleMemoryTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test("Memory is released after a burst, when the process is idle")
    func burst() {
        var decision = ReleaseDecision()
        var seconds = 0.0
        func look(cpu: Double, megabytes: Double) -> Bool {
            seconds += 20
            return decision.isDue(cpu, resident: megabytes * 1e6, at: Self.start + .seconds(seconds))
        }
        #expect(!look(cpu: 1, megabytes: 17))
        #expect(!look(cpu: 1.1, megabytes: 18))
        // The burst.
        #expect(!look(cpu: 12, megabytes: 326))
        #expect(!look(cpu: 15, megabytes: 326))
        #expect(look(cpu: 15.2, megabytes: 326))
        decision.released(120e6)
        // Connections that are still open need these.
        #expect(!look(cpu: 15.3, megabytes: 121))
        // They end.
        #expect(!look(cpu: 15.4, megabytes: 60))
        #expect(look(cpu: 15.5, megabytes: 100))
        decision.released(nil)
    }
}
