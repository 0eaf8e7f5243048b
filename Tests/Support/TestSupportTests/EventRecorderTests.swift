import Dispatch
import TestSupport
import Testing

@Suite struct EventRecorderTests {
    @Test("Events are taken once in order, and skipped ones stay")
    func order() async throws {
        let events = EventRecorder<Int>()
        for number in 1...5 { events.append(number) }
        #expect(try await events.next { $0 > 2 } == 3)
        #expect(try await events.next() == 1)
        #expect(try await events.next { $0 > 2 } == 4)
        #expect(try await events.next() == 2)
        #expect(events.all == [1, 2, 3, 4, 5])
    }

    @Test("A wait takes a later event that matches")
    func later() async throws {
        let events = EventRecorder<Int>()
        async let even = events.next { $0.isMultiple(of: 2) }
        events.append(1)
        events.append(2)
        #expect(try await even == 2)
        #expect(try await events.next() == 1)
    }

    @Test("Each event of many threads ends exactly one of many waits")
    func threads() async throws {
        let events = EventRecorder<Int>()
        let taken = try await withThrowingTaskGroup(of: Int.self, returning: Set<Int>.self) { group in
            for _ in 0..<500 { group.addTask { try await events.next(within: .seconds(30)) } }
            DispatchQueue.concurrentPerform(iterations: 500) { events.append($0) }
            return try await group.reduce(into: []) { $0.insert($1) }
        }
        #expect(taken == Set(0..<500))
    }

    @Test("A failed wait reports the awaited and the received events")
    func deadline() async throws {
        let events = EventRecorder<Int>()
        events.append(7)
        let failure = await #expect(throws: ClientFailure.self) {
            try await events.next("an eight", within: .milliseconds(50)) { $0 == 8 }
        }
        #expect(
            failure
                == .timedOut(waitingFor: "an eight", after: .milliseconds(50), received: "1 events, the last:\n  7"))
    }

    @Test("Cancelling ends one wait, and finishing ends all")
    func endings() async throws {
        let events = EventRecorder<Int>()
        let waiting = Task { try await events.next(within: .seconds(60)) }
        waiting.cancel()
        await #expect(throws: ClientFailure.cancelled(waitingFor: "an event")) { try await waiting.value }
        let other = Task { try await events.next(within: .seconds(60)) { $0 == 2 } }
        events.append(1)
        events.finish()
        await #expect(throws: ClientFailure.self) { try await other.value }
        #expect(try await events.next() == 1, "what came before the end is still there")
        await #expect(throws: ClientFailure.self) { try await events.next() }
    }

    @Test("The oldest events are dropped beyond the limit")
    func limit() async throws {
        let events = EventRecorder<Int>(limit: 10)
        for number in 0..<1000 { events.append(number) }
        #expect(events.all.count <= 10)
        #expect(events.all.last == 999)
        #expect(try await events.next { $0 == 999 } == 999)
    }
}
