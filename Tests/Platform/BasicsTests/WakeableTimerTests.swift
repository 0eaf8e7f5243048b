import Basics
import TestSupport
import Testing

@Suite struct WakeableTimerTests {
    private static let long = Duration.seconds(3600)

    @Test("A sleep ends after its time")
    func time() async {
        let timer = WakeableTimer()
        let start = MonotonicTime.now()
        await timer.sleep(for: .milliseconds(2))
        #expect(MonotonicTime.now() - start >= .milliseconds(2))
        await timer.sleep(for: .seconds(-1))
    }

    @Test("A wake-up ends the current or the next sleep")
    func wake() async throws {
        let timer = WakeableTimer()
        await timer.wake()
        await timer.wake()
        await timer.sleep(for: Self.long)

        let events = EventRecorder<String>()
        let sleeper = Task {
            await timer.sleep(for: Self.long)
            events.append("awake")
        }
        await timer.wake()
        try await events.next()
        await sleeper.value
    }

    @Test("Each wake-up ends at most one sleep")
    func manyWakeUps() async {
        let timer = WakeableTimer()
        let sleeper = Task {
            for _ in 0..<100 { await timer.sleep(for: .milliseconds(1)) }
        }
        for _ in 0..<100 { await timer.wake() }
        await sleeper.value
    }
}
