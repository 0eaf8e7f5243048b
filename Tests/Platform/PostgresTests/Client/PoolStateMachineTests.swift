import Testing

@testable import Postgres

@Suite struct PoolStateMachineTests {
    typealias Action = PoolStateMachine.Action

    static let start = ContinuousClock.now

    static func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    static func machine(_ change: (inout PostgresConfiguration) -> Void = { _ in }) -> PoolStateMachine {
        var configuration = PostgresConfiguration(conninfo: "")
        change(&configuration)
        return PoolStateMachine(configuration: configuration) { 0 }
    }

    /// Returns a machine whose first connection is open and idle.
    static func connected(_ change: (inout PostgresConfiguration) -> Void = { _ in }) -> PoolStateMachine {
        var machine = machine(change)
        _ = machine.submit(100, deadline: at(10), now: at(0))
        _ = machine.connected(1, now: at(0))
        _ = machine.finished(100, on: 1, now: at(0))
        return machine
    }

    /// Returns a machine whose first connection is open and idle, and which never gives a connection up because of
    /// silence.
    static func patient(_ change: (inout PostgresConfiguration) -> Void) -> PoolStateMachine {
        connected {
            $0.stallTimeout = .seconds(600)
            change(&$0)
        }
    }

    @Test("The first query opens a connection and is sent on it")
    func firstQueryOpensConnectionAndIsSentOnIt() {
        var machine = Self.machine()
        #expect(machine.submit(1, deadline: Self.at(10), now: Self.at(0)) == [.connect(1)])
        #expect(machine.wakeAt == Self.at(1.5))
        #expect(machine.connected(1, now: Self.at(0.1)).first == .send(1, on: 1))
        #expect(machine.finished(1, on: 1, now: Self.at(0.2)) == [])
        #expect(machine.counts.inFlight == 0)
    }

    @Test("A second connection is opened only when the first is busy")
    func secondConnectionIsOpenedOnlyWhenFirstIsBusy() {
        var machine = Self.connected { $0.maxConnections = 2 }
        #expect(machine.submit(1, deadline: Self.at(10), now: Self.at(0)) == [.send(1, on: 1)])
        #expect(machine.submit(2, deadline: Self.at(10), now: Self.at(0)) == [.send(2, on: 1), .connect(2)])
        // Meanwhile the first connection takes more queries, so a third one isn't opened.
        #expect(machine.submit(3, deadline: Self.at(10), now: Self.at(0)) == [.send(3, on: 1)])
        #expect(machine.connected(2, now: Self.at(0)) == [])
        #expect(machine.submit(4, deadline: Self.at(10), now: Self.at(0)) == [.send(4, on: 2)])
    }

    @Test("Queries beyond the pipeline's limit wait in order")
    func queriesBeyondPipelinesLimitWaitInOrder() {
        var machine = Self.connected {
            $0.maxConnections = 1
            $0.maxPipelined = 2
            $0.maxWaiters = 2
        }
        #expect(machine.submit(1, deadline: Self.at(10), now: Self.at(0)) == [.send(1, on: 1)])
        #expect(machine.submit(2, deadline: Self.at(10), now: Self.at(0)) == [.send(2, on: 1)])
        #expect(machine.submit(3, deadline: Self.at(10), now: Self.at(0)) == [])
        #expect(machine.submit(4, deadline: Self.at(10), now: Self.at(0)) == [])
        #expect(machine.submit(5, deadline: Self.at(10), now: Self.at(0)) == [.fail(5, .tooManyWaiters)])
        #expect(machine.cancel(3, now: Self.at(0)) == [])
        #expect(machine.finished(1, on: 1, now: Self.at(0)) == [.send(4, on: 1)])
    }

    @Test("A requester at its limit of connections leaves the others to other requesters")
    func requesterLeavesConnectionsToOthers() {
        var machine = Self.patient {
            $0.maxConnections = 3
            $0.maxConnectionsPerRequester = 2
            $0.maxPipelined = 2
        }
        var sent: [Action] = []
        for query in 1...10 { sent += machine.submit(UInt64(query), of: 7, deadline: Self.at(60), now: Self.at(0)) }
        sent += machine.connected(2, now: Self.at(0)) + machine.connected(3, now: Self.at(0))
        let sends = sent.compactMap { if case .send(let query, on: let id) = $0 { (query, id) } else { nil } }
        #expect(sends.map(\.0) == [1, 2, 3, 4] && Set(sends.map(\.1)) == [1, 2])
        #expect(machine.submit(11, of: 8, deadline: Self.at(60), now: Self.at(0)) == [.send(11, on: 3)])
        #expect(machine.submit(12, deadline: Self.at(60), now: Self.at(0)) == [.send(12, on: 3)])
        // Its own connections are its next places.
        #expect(machine.finished(11, on: 3, now: Self.at(0)) == [])
        #expect(machine.finished(1, on: 1, now: Self.at(0)) == [.send(5, on: 1)])
    }

    @Test("A requester's query waits only for a connection that opens")
    func requestersQueryWaitsForConnectionThatOpens() {
        var machine = Self.connected {
            $0.maxConnections = 2
            $0.maxConnectionsPerRequester = 2
        }
        #expect(machine.submit(1, of: 7, deadline: Self.at(10), now: Self.at(0)) == [.send(1, on: 1)])
        #expect(machine.submit(2, of: 7, deadline: Self.at(10), now: Self.at(0)) == [.send(2, on: 1), .connect(2)])
        #expect(machine.submit(3, of: 8, deadline: Self.at(10), now: Self.at(0)) == [])
        #expect(machine.connected(2, now: Self.at(0)) == [.send(3, on: 2)])
        #expect(machine.submit(4, of: 7, deadline: Self.at(10), now: Self.at(0)).first == .send(4, on: 2))
        // If none can be opened, the query goes behind others.
        var failing = Self.connected { $0.maxConnectionsPerRequester = 2 }
        _ = failing.submit(1, of: 7, deadline: Self.at(10), now: Self.at(0))
        _ = failing.submit(2, of: 7, deadline: Self.at(10), now: Self.at(0))
        _ = failing.submit(3, of: 8, deadline: Self.at(10), now: Self.at(0))
        #expect(failing.connectFailed(2, message: "full", now: Self.at(0)) == [.send(3, on: 1)])
    }

    @Test("Waiting requesters take turns")
    func requestersTakeTurns() {
        var machine = Self.patient {
            $0.maxConnections = 1
            $0.maxConnectionsPerRequester = 1
            $0.maxPipelined = 1
        }
        for query in 1...5 { _ = machine.submit(UInt64(query), of: 7, deadline: Self.at(60), now: Self.at(0)) }
        _ = machine.submit(6, of: 8, deadline: Self.at(60), now: Self.at(0))
        #expect(machine.finished(1, on: 1, now: Self.at(0)) == [.send(2, on: 1)])
        #expect(machine.finished(2, on: 1, now: Self.at(0)) == [.send(6, on: 1)])
        #expect(machine.finished(6, on: 1, now: Self.at(0)) == [.send(3, on: 1)])
    }

    @Test("A requester that fills the queue loses its latest query to another requester")
    func aFullQueue() {
        var machine = Self.connected {
            $0.maxConnections = 1
            $0.maxPipelined = 1
            $0.maxWaiters = 3
        }
        for query in 1...4 { _ = machine.submit(UInt64(query), of: 7, deadline: Self.at(10), now: Self.at(0)) }
        #expect(machine.submit(5, of: 7, deadline: Self.at(10), now: Self.at(0)) == [.fail(5, .tooManyWaiters)])
        #expect(machine.submit(6, of: 8, deadline: Self.at(10), now: Self.at(0)) == [.fail(4, .tooManyWaiters)])
    }

    @Test("While the database is unavailable, attempts back off")
    func whileDatabaseIsUnavailableAttemptsBackOffAndWaitingQueriesFail() {
        var machine = Self.machine()
        #expect(machine.submit(1, deadline: Self.at(10), now: Self.at(0)) == [.connect(1)])
        #expect(machine.connectFailed(1, message: "refused", now: Self.at(0)) == [])
        #expect(machine.wakeAt == Self.at(0.05))
        // Another query doesn't change the time of the next attempt.
        #expect(machine.submit(2, deadline: Self.at(10), now: Self.at(0.01)) == [])
        #expect(machine.tick(Self.at(0.05)) == [.connect(2)])
        #expect(machine.connectFailed(2, message: "refused", now: Self.at(0.05)) == [])
        #expect(machine.tick(Self.at(0.1)) == [])
        #expect(machine.tick(Self.at(0.15)) == [.connect(3)])
        #expect(
            machine.tick(Self.at(1.51)) == [
                .fail(1, .noConnection(lastFailure: "refused")), .fail(2, .noConnection(lastFailure: "refused")),
            ])
        // The attempt in progress continues for later requests.
        #expect(machine.connected(3, now: Self.at(1.6)) == [])
        #expect(machine.submit(3, deadline: Self.at(11), now: Self.at(1.7)).first == .send(3, on: 3))
    }

    @Test("A query that exceeds its time fails and is cancelled")
    func queryThatExceedsItsTimeFails() {
        var machine = Self.patient { $0.maxConnections = 1 }
        _ = machine.submit(1, deadline: Self.at(2), now: Self.at(0))
        _ = machine.submit(2, deadline: Self.at(10), now: Self.at(0))
        #expect(machine.tick(Self.at(2)) == [.fail(1, .timedOut), .cancelRunning(1)])
        // A new request waits until the place is free.
        #expect(machine.submit(3, deadline: Self.at(10), now: Self.at(2)) == [])
        #expect(
            machine.tick(Self.at(3)) == [
                .fail(2, .connectionLost("the connection did not answer in time")), .cancelRunning(1), .close(1),
            ])
        #expect(machine.closed(1, now: Self.at(3.1)) == [.connect(2)])
    }

    @Test("The neighbour of a cancelled query may finish")
    func neighbourOfCancelledQueryMayFinish() {
        var machine = Self.patient { $0.maxConnections = 1 }
        _ = machine.submit(1, deadline: Self.at(2), now: Self.at(0))
        _ = machine.submit(2, deadline: Self.at(10), now: Self.at(0))
        _ = machine.tick(Self.at(2))
        #expect(machine.finished(1, on: 1, now: Self.at(2.1)) == [])
        #expect(machine.finished(2, on: 1, now: Self.at(2.2)) == [.close(1)])
    }

    @Test("An overdue query behind another waits for its turn to be cancelled")
    func overdueQueryBehindAnotherWaitsForItsTurnToBeCancelled() {
        var machine = Self.patient { $0.maxConnections = 1 }
        _ = machine.submit(1, deadline: Self.at(60), now: Self.at(0))
        _ = machine.submit(2, deadline: Self.at(2), now: Self.at(0))
        #expect(machine.tick(Self.at(2)) == [.fail(2, .timedOut)])
        #expect(machine.finished(1, on: 1, now: Self.at(3)) == [.cancelRunning(1), .close(1)])
    }

    @Test("A lost connection fails its queries")
    func lostConnectionFailsItsQueries() {
        var machine = Self.connected { $0.maxConnections = 1 }
        _ = machine.submit(1, deadline: Self.at(10), now: Self.at(5))
        _ = machine.submit(2, deadline: Self.at(10), now: Self.at(5))
        #expect(machine.cancel(2, now: Self.at(5)) == [])
        #expect(machine.lost(1, message: "gone", now: Self.at(5)) == [.fail(1, .connectionLost("gone"))])
        #expect(machine.submit(3, deadline: Self.at(10), now: Self.at(5)) == [.connect(2)])
    }

    @Test("A server that hangs up at once isn't tried in a tight loop")
    func serverThatHangsUpAtOnceIsNotTriedInTightLoop() {
        var machine = Self.connected { $0.keepAlive = true }
        #expect(machine.lost(1, message: "gone", now: Self.at(0.1)) == [])
        #expect(machine.tick(Self.at(0.15)) == [.connect(2)])
    }

    @Test("Idle connections are closed, except the last")
    func idleConnectionsAreClosedExceptTheLast() {
        var machine = Self.connected()
        _ = machine.submit(1, deadline: Self.at(10), now: Self.at(1))
        #expect(machine.submit(2, deadline: Self.at(10), now: Self.at(1)) == [.send(2, on: 1), .connect(2)])
        _ = machine.connected(2, now: Self.at(1))
        _ = machine.finished(2, on: 1, now: Self.at(1))
        _ = machine.finished(1, on: 1, now: Self.at(1))
        #expect(machine.tick(Self.at(60)) == [])
        #expect(machine.tick(Self.at(61)) == [.close(1)])
        #expect(machine.closed(1, now: Self.at(61)) == [])
        #expect(machine.wakeAt.map { $0 > Self.at(61) } ?? true)
        #expect(machine.tick(Self.at(200)) == [])
        #expect(machine.counts.connections == 1)
    }

    @Test("The last idle connection sets no timer while another one opens")
    func lastIdleConnectionSetsNoTimerWhileAnotherOneOpens() {
        var machine = Self.connected { $0.stallTimeout = .seconds(600) }
        _ = machine.submit(1, deadline: Self.at(500), now: Self.at(1))
        #expect(machine.submit(2, deadline: Self.at(500), now: Self.at(1)) == [.send(2, on: 1), .connect(2)])
        _ = machine.finished(2, on: 1, now: Self.at(1))
        _ = machine.finished(1, on: 1, now: Self.at(1))
        #expect(machine.tick(Self.at(100)) == [])
        #expect(machine.wakeAt.map { $0 > Self.at(100) } ?? true)
    }

    @Test("An old connection closes after its queries are answered")
    func oldConnectionClosesAfterItsQueriesAreAnswered() {
        var machine = Self.patient { _ in }
        _ = machine.submit(1, deadline: Self.at(3_700), now: Self.at(3_599))
        #expect(machine.tick(Self.at(3_600)).contains(.close(1)) == false)
        #expect(machine.finished(1, on: 1, now: Self.at(3_601)).contains(.close(1)))
    }

    @Test("A shutdown fails waiting queries and lets others finish")
    func shuttingDownFailsWaitersLetsOthersFinishAndEndsInTime() {
        var machine = Self.patient {
            $0.maxConnections = 1
            $0.maxPipelined = 2
        }
        for query in 1...3 as ClosedRange<UInt64> { _ = machine.submit(query, deadline: Self.at(60), now: Self.at(0)) }
        #expect(machine.shutDown(now: Self.at(0)) == [.fail(3, .shutDown)])
        #expect(machine.submit(4, deadline: Self.at(60), now: Self.at(0)) == [.fail(4, .shutDown)])
        #expect(machine.finished(1, on: 1, now: Self.at(1)) == [])
        #expect(
            machine.tick(Self.at(5)) == [
                .fail(2, .connectionLost("the connection did not answer in time")), .cancelRunning(1), .close(1),
                .stopped,
            ])
        #expect(machine.shutDown(now: Self.at(6)) == [])
    }

    @Test(
        "In any sequence of events every query ends exactly once",
        arguments: 0..<50)
    func inAnySequenceOfEventsEveryQueryEndsExactlyOnce(seed: UInt64) {
        var random = SplitMix(state: seed)
        var machine = Self.machine {
            $0.maxConnections = 3
            $0.maxPipelined = 2
            $0.maxWaiters = 10
        }
        var now = 0.0
        var open: Set<UInt64> = []
        var live: Set<UInt64> = []  // submitted, not ended
        var connecting: Set<UInt64> = []
        var up: [UInt64: [UInt64]] = [:]  // sent on a connection, in order
        var ending: Set<UInt64> = []
        var stopped = false
        func perform(_ actions: [Action]) {
            for action in actions {
                switch action {
                case .connect(let id): connecting.insert(id)
                case .send(let query, on: let id):
                    #expect(live.contains(query))
                    #expect((up[id]?.count ?? 99) < 2)
                    up[id]?.append(query)
                case .fail(let query, _): #expect(live.remove(query) != nil)
                case .cancelRunning(let id): #expect(up[id] != nil)
                case .close(let id):
                    if up.removeValue(forKey: id) != nil {
                        ending.insert(id)
                    } else {
                        #expect(connecting.remove(id) != nil)
                    }
                case .discard(let id): #expect(ending.remove(id) != nil)
                case .stopped: stopped = true
                }
            }
            // There may be a fourth connection while one is ending.
            #expect(connecting.count + up.count + ending.count <= (ending.isEmpty ? 3 : 4))
        }
        for query in 1...300 as ClosedRange<UInt64> {
            now += Double(random.next() % 400) / 1_000
            switch random.next() % 11 {
            case 0...3:
                live.insert(query)
                open.insert(query)
                perform(machine.submit(query, deadline: Self.at(now + 2), now: Self.at(now)))
            case 4, 5:
                guard let (id, queries) = up.first(where: { !$0.value.isEmpty }) else { break }
                up[id]?.removeFirst()
                live.remove(queries[0])
                perform(machine.finished(queries[0], on: id, now: Self.at(now)))
            case 6:
                guard let id = connecting.popFirst() else { break }
                if random.next() % 2 == 0 {
                    up[id] = []
                    perform(machine.connected(id, now: Self.at(now)))
                } else {
                    perform(machine.connectFailed(id, message: "refused", now: Self.at(now)))
                }
            case 7:
                guard let id = up.keys.first else { break }
                up[id] = nil
                perform(machine.lost(id, message: "gone", now: Self.at(now)))
            case 8:
                guard let query = live.popFirst() else { break }
                perform(machine.cancel(query, now: Self.at(now)))
            case 9:
                guard let id = ending.popFirst() else { break }
                perform(machine.closed(id, now: Self.at(now)))
            default: perform(machine.tick(Self.at(now)))
            }
        }
        perform(machine.shutDown(now: Self.at(now)))
        perform(machine.tick(Self.at(now + 20)))
        perform(machine.tick(Self.at(now + 40)))
        #expect(live.isEmpty)
        #expect(stopped)
        #expect(machine.counts == PostgresPoolCounts())
    }
}

/// A small random number generator with a seed, so that a failure can be repeated.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
