import TestSupport
import Testing

@testable import Basics

@Suite struct GatheredCallsTests {
    private struct Unavailable: Error {}
    private struct Refused: Error, Equatable {}

    /// A destination whose calls end when the test decides.
    private actor Destination {
        let asked = EventRecorder<[Int]>()
        private var pending: [CheckedContinuation<[Result<String, any Error>], any Error>] = []

        func perform(_ items: [Int]) async throws -> [Result<String, any Error>] {
            asked.append(items)
            return try await withCheckedThrowingContinuation { pending.append($0) }
        }

        func answer(_ outcomes: [Result<String, any Error>]) { pending.removeFirst().resume(returning: outcomes) }

        func fail() { pending.removeFirst().resume(throwing: Unavailable()) }
    }

    /// Calls with at most two items and four bytes each, and at most five waiting items.
    private struct World {
        let destination = Destination()
        let calls: GatheredCalls<Int, String>

        init(waitingBytes: Int = .max) {
            calls = GatheredCalls(
                GatheringLimits(itemsPerCall: 2, bytesPerCall: 4, waitingItems: 5, waitingBytes: waitingBytes)
            ) { [destination] in try await destination.perform($0) }
        }

        /// Makes the calls one after the other.
        func call(_ items: [Int], bytes: Int = 1) async throws -> [Task<String, any Error>] {
            var tasks: [Task<String, any Error>] = []
            for item in items {
                let before = await calls.count
                tasks.append(Task { try await calls.call(item, bytes: bytes) })
                try await eventually("one more waits") { await calls.count > before }
            }
            return tasks
        }

        /// Makes a call that the destination performs at once.
        func begin(_ item: Int) async throws -> Task<String, any Error> {
            let task = Task { try await calls.call(item) }
            #expect(try await destination.asked.next() == [item])
            return task
        }
    }

    @Test("The first request starts at once, and later ones are gathered in order up to a limit")
    func gathering() async throws {
        let world = World()
        let first = try await world.begin(1)
        let others = try await world.call([2, 3, 4])
        await world.destination.answer([.success("one")])
        #expect(try await first.value == "one")
        #expect(try await world.destination.asked.next() == [2, 3])
        await world.destination.answer([.success("two"), .failure(Refused())])
        #expect(try await others[0].value == "two")
        await #expect(throws: Refused.self) { try await others[1].value }
        #expect(try await world.destination.asked.next() == [4])
        await world.destination.answer([.success("four")])
        #expect(try await others[2].value == "four")
    }

    @Test("A long request is performed alone")
    func bytes() async throws {
        let world = World()
        let first = try await world.begin(1)
        let others = try await world.call([2, 3], bytes: 9)
        await world.destination.answer([.success("one")])
        _ = try await first.value
        for (item, task) in zip([2, 3], others) {
            #expect(try await world.destination.asked.next() == [item])
            await world.destination.answer([.success("\(item)")])
            #expect(try await task.value == "\(item)")
        }
    }

    @Test("A failed call fails only the requests that it gathered")
    func failure() async throws {
        let world = World()
        let first = try await world.begin(1)
        let others = try await world.call([2, 3, 4])
        await world.destination.answer([.success("one")])
        _ = try await first.value
        #expect(try await world.destination.asked.next() == [2, 3])
        let later = try await world.call([5])
        await world.destination.fail()
        for task in others { await #expect(throws: Unavailable.self) { try await task.value } }
        #expect(try await world.destination.asked.next() == [5])
        await world.destination.answer([.success("five")])
        #expect(try await later[0].value == "five")
    }

    @Test("Requests beyond the limit are refused, and accepted again later", arguments: [Int.max, 5])
    func full(waitingBytes: Int) async throws {
        let world = World(waitingBytes: waitingBytes)
        let first = try await world.begin(1)
        let others = try await world.call([2, 3, 4, 5, 6])
        await #expect(throws: GatheringError.full) { try await world.calls.call(7, bytes: 1) }
        await world.destination.answer([.success("one")])
        _ = try await first.value
        #expect(try await world.destination.asked.next() == [2, 3])
        let last = try await world.call([8])
        await world.destination.fail()
        for task in others { await #expect(throws: Unavailable.self) { try await task.value } }
        #expect(try await world.destination.asked.next() == [8])
        await world.destination.answer([])
        await #expect(throws: GatheringError.unanswered) { try await last[0].value }
    }
}
