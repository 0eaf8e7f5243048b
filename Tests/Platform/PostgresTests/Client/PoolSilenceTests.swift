import Testing

@testable import Postgres

/// The pool when the server doesn't answer (`stallTimeout`, 1.5 s here), and situations that don't count as silence.
@Suite struct PoolSilenceTests {
    typealias Tests = PoolStateMachineTests

    private static func at(_ seconds: Double) -> ContinuousClock.Instant { Tests.at(seconds) }

    @Test("A query on a silent connection fails, and the next one uses another connection")
    func silent() {
        var machine = Tests.connected { $0.maxConnections = 2 }
        _ = machine.submit(1, deadline: Self.at(20), now: Self.at(10))
        #expect(machine.submit(2, deadline: Self.at(21), now: Self.at(11)) == [.send(2, on: 1), .connect(2)])
        #expect(machine.tick(Self.at(11.49)) == [])
        #expect(machine.wakeAt == Self.at(11.5))
        #expect(machine.tick(Self.at(11.5)) == [.fail(1, .stalled)])
        #expect(machine.submit(3, deadline: Self.at(22), now: Self.at(12)) == [])
        #expect(machine.tick(Self.at(12.5)) == [.fail(2, .stalled)])
        // The statement may continue. Only its deadline ends the connection.
        #expect(machine.connected(2, now: Self.at(12.6)).first == .send(3, on: 2))
        #expect(machine.finished(3, on: 2, now: Self.at(12.7)) == [])
        #expect(machine.tick(Self.at(20)) == [.cancelRunning(1), .close(1)])
    }

    @Test("A silent connection that answers again takes queries again")
    func comesRound() {
        var machine = Tests.connected { $0.maxConnections = 2 }
        _ = machine.submit(1, deadline: Self.at(20), now: Self.at(10))
        #expect(machine.tick(Self.at(11.5)) == [.fail(1, .stalled)])
        #expect(machine.submit(2, deadline: Self.at(22), now: Self.at(12)) == [.connect(2)])
        #expect(machine.finished(1, on: 1, now: Self.at(12.1)) == [.send(2, on: 1)])
    }

    @Test("A pipeline may take longer than the silence limit while results arrive")
    func movesOn() {
        var machine = Tests.connected { $0.maxConnections = 1 }
        for query in 1...4 as ClosedRange<UInt64> {
            _ = machine.submit(query, deadline: Self.at(20), now: Self.at(10))
        }
        for step in 1...3 as ClosedRange<UInt64> {
            let now = 10 + 1.4 * Double(step)
            #expect(machine.tick(Self.at(now - 0.01)) == [])
            #expect(machine.finished(step, on: 1, now: Self.at(now)) == [])
        }
        #expect(machine.tick(Self.at(15)) == [])
        #expect(machine.received(1, now: Self.at(15.6)) == [])
        #expect(machine.tick(Self.at(17)) == [])
        #expect(machine.finished(4, on: 1, now: Self.at(17)) == [])
    }

    @Test("A query without a connection fails after silence on all of them")
    func queue() {
        var machine = Tests.connected {
            $0.maxConnections = 2
            $0.maxPipelined = 1
        }
        _ = machine.submit(1, deadline: Self.at(20), now: Self.at(10))
        #expect(machine.submit(2, deadline: Self.at(20), now: Self.at(10)) == [.connect(2)])
        _ = machine.connected(2, now: Self.at(10))
        _ = machine.submit(3, deadline: Self.at(20), now: Self.at(10))
        _ = machine.submit(4, deadline: Self.at(13.5), now: Self.at(10))
        // One of two connections is silent; the other continues.
        #expect(machine.finished(2, on: 2, now: Self.at(11)) == [.send(3, on: 2)])
        #expect(machine.tick(Self.at(11.5)) == [.fail(1, .stalled), .cancelRunning(1), .close(1)])
        #expect(machine.tick(Self.at(12.4)) == [])
        #expect(machine.tick(Self.at(12.5)) == [.fail(4, .noConnection(lastFailure: nil)), .fail(3, .stalled)])
    }

    @Test("When one connection is silent, idle ones without recent input are closed")
    func suspects() {
        var machine = Tests.connected { $0.maxConnections = 3 }
        _ = machine.submit(1, deadline: Self.at(20), now: Self.at(10))
        #expect(machine.submit(2, deadline: Self.at(20), now: Self.at(10)) == [.send(2, on: 1), .connect(2)])
        _ = machine.connected(2, now: Self.at(10))
        _ = machine.finished(1, on: 1, now: Self.at(10))
        _ = machine.finished(2, on: 1, now: Self.at(10))
        _ = machine.submit(3, deadline: Self.at(40), now: Self.at(30))
        #expect(machine.tick(Self.at(31.5)) == [.fail(3, .stalled), .close(2)])
    }

    @Test("A query that waited for its connection has only the remaining time for its result")
    func bothWaits() {
        var machine = Tests.machine()
        _ = machine.submit(1, deadline: Self.at(20), now: Self.at(10))
        #expect(machine.connected(1, now: Self.at(11.4)) == [.send(1, on: 1)])
        #expect(machine.tick(Self.at(11.5)) == [.fail(1, .stalled)])
    }

    @Test("A read-only connection is replaced, at most one per second")
    func readOnly() {
        var machine = Tests.connected { $0.maxConnections = 1 }
        _ = machine.submit(1, deadline: Self.at(20), now: Self.at(0.5))
        #expect(machine.finished(1, on: 1, health: .readOnly, now: Self.at(0.6)) == [])
        _ = machine.submit(2, deadline: Self.at(20), now: Self.at(1))
        #expect(machine.finished(2, on: 1, health: .readOnly, now: Self.at(1.1)) == [.close(1)])
        #expect(machine.submit(3, deadline: Self.at(20), now: Self.at(1.2)) == [])
        #expect(machine.closed(1, now: Self.at(1.2)) == [.connect(2)])
    }
    @Test("All other connections of the same age are replaced, too")
    func readOnlyGeneration() {
        var machine = Tests.connected { $0.maxConnections = 2 }
        _ = machine.submit(1, deadline: Self.at(20), now: Self.at(1))
        #expect(machine.submit(2, deadline: Self.at(20), now: Self.at(1)) == [.send(2, on: 1), .connect(2)])
        _ = machine.connected(2, now: Self.at(1))
        #expect(machine.submit(3, deadline: Self.at(20), now: Self.at(1)) == [.send(3, on: 2)])
        #expect(machine.finished(1, on: 1, now: Self.at(2.5)) == [])
        #expect(machine.finished(2, on: 1, health: .readOnly, now: Self.at(2.5)) == [.close(1)])
        #expect(machine.finished(3, on: 2, now: Self.at(2.5)) == [.close(2)])
    }
}
