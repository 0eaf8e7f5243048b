import Testing

@testable import Postgres

@Suite struct WaitingQueriesTests {
    private static let start = ContinuousClock.now

    private static func entry(
        _ id: Int, of owner: UInt128? = nil, submittedAt: Double = 0, deadline: Double = 10
    ) -> WaitingQueries.Entry {
        WaitingQueries.Entry(
            id: UInt64(id), owner: owner, submittedAt: start + .seconds(submittedAt),
            deadline: start + .seconds(deadline))
    }

    private static func waiting(_ entries: WaitingQueries.Entry...) -> WaitingQueries {
        var queries = WaitingQueries()
        for entry in entries { queries.append(entry) }
        return queries
    }

    /// Removes the next query, of an owner that isn't among `held`.
    private static func pop(_ queries: inout WaitingQueries, but held: Set<UInt128?> = []) -> UInt64? {
        queries.popFirst { held.contains($0) ? nil : () }?.entry.id
    }

    @Test("Owners take turns, and each owner's queries stay in order")
    func turns() {
        var queries = Self.waiting(
            Self.entry(1, of: 1), Self.entry(2, of: 1), Self.entry(3, of: 1), Self.entry(4, of: 2), Self.entry(5),
            Self.entry(6, of: 2))
        let ids = (0..<7).map { _ in Self.pop(&queries) }
        #expect(ids == [1, 4, 5, 2, 6, 3, nil])
    }

    @Test("An owner that must wait keeps its turn")
    func held() {
        var queries = Self.waiting(
            Self.entry(1, of: 1), Self.entry(2, of: 2), Self.entry(3, of: 3), Self.entry(4, of: 2))
        let second = Self.pop(&queries, but: [1])
        let third = Self.pop(&queries, but: [1])
        let first = Self.pop(&queries)
        let none = Self.pop(&queries, but: [2])
        #expect([second, third, first, none] == [2, 3, 1, nil] && queries.count == 1)
    }

    @Test("An owner without queries is skipped")
    func emptied() {
        var queries = Self.waiting(Self.entry(1, of: 1), Self.entry(2, of: 2), Self.entry(3, of: 2))
        _ = queries.remove(1)
        let second = Self.pop(&queries)
        queries.append(Self.entry(4, of: 1))
        let ids = (0..<3).map { _ in Self.pop(&queries) }
        #expect(second == 2 && ids == [3, 4, nil])
    }

    @Test("The owner with the most queries loses its latest one to another owner")
    func excess() {
        var queries = Self.waiting(
            Self.entry(1, of: 1), Self.entry(2, of: 1), Self.entry(3, of: 1), Self.entry(4, of: 2))
        let own = queries.removeExcess(for: 1)
        let latest = queries.removeExcess(for: 3)
        let equal = queries.removeExcess(for: 2)
        #expect(own == nil && latest == 3 && equal == nil && queries.count == 3)
    }

    @Test("Owners that give up leave no state")
    func manyOwners() {
        var queries = WaitingQueries()
        for id in 1...10_000 {
            queries.append(Self.entry(id, of: UInt128(id)))
            _ = queries.remove(UInt64(id))
        }
        queries.append(Self.entry(1, of: 1))
        let left = queries.ownerCount
        let id = Self.pop(&queries)
        #expect(left < 200 && id == 1)
    }

    @Test("Queries leave in order, without removed ones")
    func order() {
        var queries = Self.waiting(Self.entry(3), Self.entry(1), Self.entry(2))
        let wasThere = queries.remove(1)
        let wasThereAgain = queries.remove(1)
        #expect(wasThere && !wasThereAgain && queries.count == 2)
        let ids = [Self.pop(&queries), Self.pop(&queries), Self.pop(&queries)]
        #expect(ids == [3, 2, nil] && queries.isEmpty)
    }

    @Test("A query fails at its deadline, or earlier if the server is silent")
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

    @Test("Removing queries keeps the order of the others")
    func manyRemovals() {
        var queries = WaitingQueries()
        for id in 1...1000 {
            queries.append(Self.entry(id))
            if id % 10 != 0 { _ = queries.remove(UInt64(id)) }
        }
        var ids: [UInt64] = []
        while let id = Self.pop(&queries) { ids.append(id) }
        #expect(ids == (1...100).map { UInt64($0 * 10) })
    }
}

@Suite struct ConnectionHealthTests {
    @Test("A stale or read-only connection is replaced")
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
