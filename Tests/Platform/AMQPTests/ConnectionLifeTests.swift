import Basics
import Testing

@testable import AMQP

@Suite struct ConnectionLifeTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func life() -> ConnectionLife {
        ConnectionLife(backoff: Backoff(minimum: .seconds(1), maximum: .seconds(4), jitter: 0), at: start)
    }

    @Test("A connection is tried at once, and then after growing waits")
    func failures() {
        var life = life()
        var now = start
        #expect(life.next(at: now) == .connect)
        for wait in [1, 2, 4, 4] {
            life.lost(at: now, random: 0)
            let next = now + .seconds(wait)
            #expect(life.next(at: now) == .wait(until: next))
            #expect(life.next(at: next) == .connect)
            now = next
        }
    }

    @Test("Only a connection of some length resets the waits")
    func success() {
        var life = life()
        life.lost(at: start, random: 0)
        life.connected(at: start)
        #expect(life.next(at: start) == .serve)
        life.lost(at: start + .seconds(1), random: 0)
        #expect(life.phase == .waiting(until: start + .seconds(3)))
        life.connected(at: start + .seconds(3))
        life.lost(at: start + .seconds(10), random: 0)
        #expect(life.phase == .waiting(until: start + .seconds(11)))
    }

    @Test("A broker can block and unblock only an open connection")
    func blocked() {
        var life = life()
        life.blocked("memory")
        #expect(life.next(at: start) == .connect)
        life.connected(at: start)
        life.blocked("memory")
        #expect(life.phase == .blocked(reason: "memory"))
        #expect(life.isConnected && life.next(at: start) == .serve)
        life.unblocked()
        #expect(life.phase == .taking)
        life.blocked("memory")
        life.lost(at: start, random: 0)
        life.unblocked()
        #expect(!life.isConnected)
    }

    @Test("No attempt follows the end")
    func end() {
        var life = life()
        life.connected(at: start)
        life.end()
        life.lost(at: start, random: 0)
        life.connected(at: start)
        life.unblocked()
        #expect(life.next(at: start + .seconds(60)) == .end)
    }
}
