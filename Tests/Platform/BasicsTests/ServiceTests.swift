import Basics
import TestSupport
import Testing

@Suite struct ServiceTests {
    /// A service that runs until it is stopped, and records the stop. A deaf one ignores the stop.
    private struct RecordingService: Service {
        let name: String
        let events: EventRecorder<String>
        let isDeaf: Bool
        private let ends: AsyncStream<Void>
        private let end: AsyncStream<Void>.Continuation

        init(_ name: String, _ events: EventRecorder<String>, isDeaf: Bool = false) {
            self.name = name
            self.events = events
            self.isDeaf = isDeaf
            (ends, end) = AsyncStream.makeStream()
        }

        func run() async {
            events.append("\(name) runs")
            for await _ in ends {}
            events.append("\(name) ended")
        }

        func stop(within limit: Duration) {
            events.append("\(name) stops")
            if !isDeaf { end.finish() }
        }
    }

    @Test("Services stop in reverse order, one after the other")
    func order() async throws {
        let events = EventRecorder<String>()
        let group = ServiceGroup([RecordingService("a", events), RecordingService("b", events)])
        await group.start()
        for name in ["a", "b"] { try await events.next { $0 == "\(name) runs" } }
        #expect(await group.stop(within: .seconds(60)))
        #expect(events.all.suffix(4) == ["b stops", "b ended", "a stops", "a ended"])
    }

    @Test("A service that doesn't end doesn't keep the others from stopping")
    func deaf() async throws {
        let events = EventRecorder<String>()
        let group = ServiceGroup([RecordingService("a", events), RecordingService("b", events, isDeaf: true)])
        await group.start()
        for name in ["a", "b"] { try await events.next { $0 == "\(name) runs" } }
        #expect(await !group.stop(within: .milliseconds(20)))
        try await events.next { $0 == "a ended" }
    }

    @Test("A service that never ran is stopped, too")
    func neverStarted() async {
        let events = EventRecorder<String>()
        let group = ServiceGroup([RecordingService("a", events)])
        #expect(await group.stop(within: .seconds(60)))
        await group.start()
        #expect(await group.stop(within: .seconds(60)))
        #expect(events.all == ["a stops"])
    }
}

@Suite struct TimeoutTests {
    @Test("Waiting for a task ends with the task or at its limit")
    func ends() async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        let task = Task { for await _ in ends {} }
        #expect(await !task.ends(within: .milliseconds(1)))
        #expect(await !task.ends(within: .seconds(-1)))
        end.finish()
        #expect(await task.ends(within: .seconds(60)))
    }

    @Test("After the limit the work is notified, and its result is still returned")
    func timeout() async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        let result = await withTimeout(.milliseconds(1)) {
            for await _ in ends {}
            return 7
        } onTimeout: {
            end.finish()
        }
        #expect(result == 7)
    }

    @Test("Work within the limit isn't notified")
    func inTime() async {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await withTimeout(.seconds(3600)) {
                throw Failure()
            } onTimeout: {
                Issue.record("too late")
            }
        }
    }
}
