import Testing

@testable import Postgres

/// A connection that was given up counts against the limit until the server has ended it, or until `endPatience` has
/// passed (1 s here). The server's own limit for a query is 11 s here.
@Suite struct PoolEndingTests {
    typealias Tests = PoolStateMachineTests

    private static func at(_ seconds: Double) -> ContinuousClock.Instant { Tests.at(seconds) }

    /// Returns a pool whose connections are all connected and busy with one query each: query 1 on connection 1, 2 on 2
    /// and so on, sent at second 10.
    private static func busy(_ connections: UInt64) -> PoolStateMachine {
        var machine = Tests.connected {
            $0.maxConnections = Int(connections)
            $0.maxPipelined = 1
        }
        _ = machine.submit(1, deadline: at(20), now: at(10))
        for query in (1...connections).dropFirst() {
            #expect(machine.submit(query, deadline: at(20), now: at(10)) == [.connect(query)])
            #expect(machine.connected(query, now: at(10)) == [.send(query, on: query)])
        }
        return machine
    }

    @Test("A silent connection is replaced after the server has ended it")
    func taken() {
        var machine = Self.busy(2)
        #expect(machine.tick(Self.at(11.5)) == [.fail(1, .stalled), .fail(2, .stalled)])
        #expect(machine.submit(3, deadline: Self.at(22), now: Self.at(12)) == [.cancelRunning(1), .close(1)])
        #expect(machine.counts.ending == 1)
        #expect(machine.tick(Self.at(12.9)) == [])
        #expect(machine.closed(1, now: Self.at(12.9)) == [.connect(3)])
        #expect(machine.connected(3, now: Self.at(12.9)) == [.send(3, on: 3)])
        // The other silent connection may answer after all.
        #expect(machine.finished(2, on: 2, now: Self.at(13)) == [])
        #expect(machine.counts == PostgresPoolCounts(connections: 2, inFlight: 1))
    }

    @Test("The longest silent connections are closed first, and no more than needed")
    func asMany() {
        var machine = Self.busy(3)
        _ = machine.received(1, now: Self.at(11))
        _ = machine.tick(Self.at(11.5))
        #expect(machine.tick(Self.at(12.5)) == [.fail(1, .stalled)])
        #expect(machine.submit(4, deadline: Self.at(22), now: Self.at(12.5)) == [.cancelRunning(2), .close(2)])
        #expect(machine.submit(5, deadline: Self.at(22), now: Self.at(12.5)) == [.cancelRunning(3), .close(3)])
        #expect(machine.submit(6, deadline: Self.at(22), now: Self.at(12.5)) == [.cancelRunning(1), .close(1)])
        #expect(machine.submit(7, deadline: Self.at(22), now: Self.at(12.5)) == [])
    }

    @Test("A connection with an awaited answer isn't closed")
    func awaited() {
        var machine = Tests.connected { $0.maxConnections = 1 }
        _ = machine.submit(1, deadline: Self.at(20), now: Self.at(10))
        _ = machine.submit(2, deadline: Self.at(20), now: Self.at(11))
        #expect(machine.tick(Self.at(11.5)) == [.fail(1, .stalled)])
        #expect(machine.submit(3, deadline: Self.at(20), now: Self.at(12)) == [])
        #expect(machine.tick(Self.at(12.5)) == [.fail(2, .stalled), .cancelRunning(1), .close(1)])
    }

    @Test("Every connection with an overdue query is cancelled")
    func overdue() {
        var machine = Tests.patient {
            $0.maxConnections = 4
            $0.maxPipelined = 1
        }
        for query in 1...8 as ClosedRange<UInt64> {
            _ = machine.submit(query, deadline: Self.at(query <= 4 ? 20 : 60), now: Self.at(10))
            if query > 1, query <= 4 { _ = machine.connected(query, now: Self.at(10)) }
        }
        let actions = machine.tick(Self.at(20))
        #expect(actions.filter { if case .cancelRunning = $0 { true } else { false } }.count == 4)
        #expect(actions.filter { if case .close = $0 { true } else { false } }.count == 4)
        #expect(!actions.contains { if case .connect = $0 { true } else { false } })
        #expect(machine.counts == PostgresPoolCounts(ending: 4, waiting: 4))
        #expect(machine.closed(3, now: Self.at(20.1)) == [.connect(5)])
        // A connection is already being opened, so another isn't needed.
        #expect(machine.tick(Self.at(21.5)) == [])
    }

    @Test("If no connection's end is reported, one more connection serves")
    func neverHeard() {
        var machine = Self.busy(2)
        _ = machine.tick(Self.at(11.5))
        _ = machine.submit(3, deadline: Self.at(99), now: Self.at(12))
        #expect(machine.submit(4, deadline: Self.at(99), now: Self.at(12)) == [.cancelRunning(2), .close(2)])
        #expect(machine.tick(Self.at(12.99)) == [])
        #expect(machine.wakeAt == Self.at(13))
        #expect(machine.tick(Self.at(13)) == [.connect(3)])
        #expect(machine.connected(3, now: Self.at(13.1)) == [.send(3, on: 3)])
        #expect(machine.tick(Self.at(13.2)) == [])
        #expect(machine.counts == PostgresPoolCounts(connections: 1, ending: 2, inFlight: 1, waiting: 1))
        _ = machine.finished(3, on: 3, now: Self.at(14))
        // The server's limit for the query that ran there counts from the moment at which the connection was given up.
        #expect(machine.tick(Self.at(22.9)).contains(.discard(1)) == false)
        #expect(machine.tick(Self.at(23)).contains(.discard(1)))
        #expect(machine.counts.ending == 0)
    }

    @Test("A query with a longer time limit keeps its connection's place for that time")
    func longer() {
        var machine = Tests.patient { $0.maxConnections = 1 }
        _ = machine.submit(1, deadline: Self.at(70), now: Self.at(10))
        #expect(machine.tick(Self.at(70)) == [.fail(1, .timedOut), .cancelRunning(1), .close(1)])
        #expect(machine.tick(Self.at(130)) == [])
        #expect(machine.tick(Self.at(131)) == [.discard(1)])
    }

    @Test("An idle connection that is closed for its age keeps its place until it ends")
    func aged() {
        var machine = Tests.connected { $0.maxConnections = 1 }
        #expect(machine.tick(Self.at(3_600)) == [.close(1)])
        #expect(machine.submit(1, deadline: Self.at(3_610), now: Self.at(3_600)) == [])
        #expect(machine.closed(1, now: Self.at(3_600.001)) == [.connect(2)])
        #expect(machine.closed(1, now: Self.at(3_600.002)) == [])
    }

    @Test("A shutdown waits for no connection's end")
    func shutDown() {
        var machine = Self.busy(1)
        _ = machine.tick(Self.at(11.5))
        _ = machine.submit(2, deadline: Self.at(22), now: Self.at(12))
        #expect(machine.shutDown(now: Self.at(12.1)) == [.fail(2, .shutDown), .discard(1), .stopped])
    }
}
