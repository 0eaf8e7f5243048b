import Testing

@testable import Postgres

/// How long users wait for a database that is unavailable, with the product's settings. The time is the test's, so that a busy machine
/// changes nothing; the tests of faults see that it happens at all.
@Suite struct PoolPromiseTests {
    typealias Tests = PoolStateMachineTests

    /// When the pool fails query 1, if the test calls `tick` whenever the pool asks for it, and every attempt to connect ends as `connect`
    /// says.
    private func failure(
        of machine: inout PoolStateMachine, from first: [PoolStateMachine.Action], connect: Duration?
    ) -> Duration? {
        var attempts = Self.attempts(first, at: .zero, lasting: connect)
        for _ in 0..<1_000 {
            guard let wakeAt = machine.wakeAt.map({ $0 - Tests.start }) else { return nil }
            let end = attempts.first.map { min($0.end, wakeAt) } ?? wakeAt
            let now = Tests.start + end
            var actions: [PoolStateMachine.Action] = []
            if let attempt = attempts.first, attempt.end <= end {
                attempts.removeFirst()
                actions = machine.connectFailed(attempt.id, message: "refused", now: now)
            } else {
                actions = machine.tick(now)
            }
            for case .fail(1, _) in actions { return end }
            attempts += Self.attempts(actions, at: end, lasting: connect)
        }
        return nil
    }

    private static func attempts(
        _ actions: [PoolStateMachine.Action], at now: Duration, lasting length: Duration?
    ) -> [(id: PoolStateMachine.ConnectionID, end: Duration)] {
        actions.compactMap { action in
            guard case .connect(let id) = action, let length else { return nil }
            return (id, now + length)
        }
    }

    @Test("A query on a connection that is silent fails within 2 s")
    func silent() throws {
        var machine = Tests.connected()
        let actions = machine.submit(1, deadline: Tests.at(10), now: Tests.at(0))
        let end = try #require(failure(of: &machine, from: actions, connect: nil))
        #expect(end <= .seconds(2))
    }

    @Test(
        "A query without a connection fails within 2 s",
        arguments: [Duration.zero, .seconds(2), nil])
    func unconnected(attempt: Duration?) throws {
        var machine = Tests.machine()
        let actions = machine.submit(1, deadline: Tests.at(10), now: Tests.at(0))
        let end = try #require(failure(of: &machine, from: actions, connect: attempt))
        #expect(end <= .seconds(2))
    }

    @Test("The pool connects within 5 s after the database returns")
    func returns() throws {
        let configuration = PostgresConfiguration(conninfo: "")
        for failures in [1, 5, 100] {
            var machine = Tests.machine { $0.keepAlive = true }
            var now = Tests.start
            var attempt: PoolStateMachine.ConnectionID = 1
            _ = machine.submit(1, deadline: now + .seconds(10), now: now)
            for failure in 1...failures {
                _ = machine.connectFailed(attempt, message: "refused", now: now)
                // Somebody asks all the time.
                _ = machine.submit(UInt64(failure + 1), deadline: now + .seconds(10), now: now)
                let wait = try #require(machine.nextAttempt) - now
                #expect(wait <= .seconds(1))
                now += wait
                let next = machine.tick(now).compactMap { action in
                    if case .connect(let id) = action { id } else { nil }
                }
                attempt = try #require(next.first)
            }
            // At worst the database returns when an attempt has just begun that doesn't notice it, and has its whole time.
            #expect(configuration.connectTimeout + configuration.maxBackoff <= .seconds(5))
            now += configuration.connectTimeout
            _ = machine.connectFailed(attempt, message: "timed out", now: now)
            let wait = try #require(machine.nextAttempt) - now
            #expect(configuration.connectTimeout + wait <= .seconds(5))
        }
        #expect(configuration.listenerMaxBackoff <= .seconds(1))
    }
}
