import Testing

@testable import Postgres

@Suite struct WaitingQueriesTests {
    private static let start = ContinuousClock.now

    private static func entry(_ id: Int, submittedAt: Double = 0, deadline: Double = 10) -> WaitingQueries.Entry {
        WaitingQueries.Entry(
            id: UInt64(id), submittedAt: start + .seconds(submittedAt), deadline: start + .seconds(deadline))
    }

    private static func waiting(_ entries: WaitingQueries.Entry...) -> WaitingQueries {
        var queries = WaitingQueries()
        for entry in entries { queries.append(entry) }
        return queries
    }

    @Test("Queries leave in order, without removed ones")
    func order() {
        var queries = Self.waiting(Self.entry(3), Self.entry(1), Self.entry(2))
        let wasThere = queries.remove(1)
        let wasThereAgain = queries.remove(1)
        #expect(wasThere && !wasThereAgain && queries.count == 2)
        let ids = [queries.popFirst()?.id, queries.popFirst()?.id, queries.popFirst()?.id]
        #expect(ids == [3, 2, nil] && queries.isEmpty)
    }

    @Test("A query fails at its deadline, or earlier if the server is silent for too long")
    func givingUp() {
        let entry = Self.entry(1, submittedAt: 1, deadline: 5)
        #expect(entry.giveUp(lastReceivedAt: nil, patience: .seconds(2)) == Self.start + .seconds(3))
        #expect(entry.giveUp(lastReceivedAt: Self.start, patience: .seconds(2)) == Self.start + .seconds(3))
        #expect(
            entry.giveUp(lastReceivedAt: Self.start + .seconds(2.5), patience: .seconds(2)) == Self.start
                + .seconds(4.5))
        #expect(
            entry.giveUp(lastReceivedAt: Self.start + .seconds(4), patience: .seconds(2)) == Self.start + .seconds(5))
    }

    @Test("Overdue queries are removed, and the next deadline is returned")
    func overdue() {
        var queries = Self.waiting(Self.entry(2, deadline: 1), Self.entry(1, deadline: 2), Self.entry(3, deadline: 3))
        #expect(queries.nextGiveUp(lastReceivedAt: nil, patience: .seconds(60)) == Self.start + .seconds(1))
        let overdue = queries.removeOverdue(Self.start + .seconds(2), lastReceivedAt: nil, patience: .seconds(60))
        #expect(overdue == [1, 2] && queries.count == 1)
        let all = queries.removeAll()
        #expect(all == [3] && queries.isEmpty)
        #expect(queries.nextGiveUp(lastReceivedAt: nil, patience: .seconds(60)) == nil)
    }

    @Test("Any number of queries can be removed, and the others keep their order")
    func manyRemovals() {
        var queries = WaitingQueries()
        for id in 1...1000 {
            queries.append(Self.entry(id))
            if id % 10 != 0 { _ = queries.remove(UInt64(id)) }
        }
        var ids: [UInt64] = []
        while let entry = queries.popFirst() { ids.append(entry.id) }
        #expect(ids == (1...100).map { UInt64($0 * 10) })
    }
}

@Suite struct ConnectionHealthTests {
    @Test("A stale connection is replaced at once, and a read-only one with its contemporaries at a minimum age")
    func replacement() {
        let (young, old) = (Duration.milliseconds(999), Duration.seconds(1))
        #expect(!ConnectionHealth.healthy.asksForReplacement(age: old))
        #expect(ConnectionHealth.stale.asksForReplacement(age: .zero))
        #expect(!ConnectionHealth.stale.asksForReplacementOfOthers(age: old))
        #expect(!ConnectionHealth.readOnly.asksForReplacement(age: young))
        #expect(ConnectionHealth.readOnly.asksForReplacement(age: old))
        #expect(!ConnectionHealth.readOnly.asksForReplacementOfOthers(age: young))
        #expect(ConnectionHealth.readOnly.asksForReplacementOfOthers(age: old))
    }
}
