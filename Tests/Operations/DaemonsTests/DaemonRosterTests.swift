import Basics
import Rooms
import Testing

@testable import Daemons

/// The daemons that are alive, with a clock that the test sets.
@Suite struct DaemonRosterTests {
    private let own = DaemonID()
    private let other = DaemonID()

    private func row(_ id: DaemonID, _ beats: Int, isFresh: Bool = true) -> DaemonRow {
        DaemonRow(
            info: DaemonInfo(id: id, host: "h", build: "1", language: 1, bus: "postgresql"), beats: beats,
            isFresh: isFresh)
    }

    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: 0) + .seconds(seconds) }

    @Test("A daemon that counted recently is alive until its row is deleted")
    func comingAndGoing() {
        var roster = DaemonRoster(own: own)
        roster.look(at: [row(own, 1)], now: at(0))
        #expect(roster.alive.isEmpty && roster.gone.isEmpty)
        roster.look(at: [row(own, 2), row(other, 1)], now: at(5))
        #expect(roster.alive.map(\.id) == [other])
        roster.look(at: [row(own, 3)], now: at(6))
        #expect(roster.alive.isEmpty && roster.gone.isEmpty)
    }

    @Test("A daemon that stops counting is gone within 15 s")
    func silence() {
        var roster = DaemonRoster(own: own)
        // The other daemon dies just after a beat. This daemon sees the beat in the last look before the next one was
        // due.
        for (time, beats) in [(0.05, 1), (5.0, 2)] { roster.look(at: [row(other, beats)], now: at(time)) }
        for time in [6.0, 7, 9.95, 14.4] {
            roster.look(at: [row(other, 2)], now: at(time))
            #expect(roster.alive.map(\.id) == [other], "\(time)")
        }
        roster.look(at: [row(other, 2)], now: at(14.9))
        #expect(roster.alive.isEmpty && roster.gone == [row(other, 2)])
        // No daemon has removed it yet, and the database still shows it as fresh.
        roster.look(at: [row(other, 2)], now: at(15))
        #expect(roster.alive.isEmpty && roster.gone == [row(other, 2)])
        roster.look(at: [row(other, 3)], now: at(16))
        #expect(roster.alive.map(\.id) == [other] && roster.gone.isEmpty)
    }

    @Test("The row of a dead daemon isn't trusted before it counts")
    func leftover() {
        var roster = DaemonRoster(own: own)
        let living = DaemonID()
        roster.look(at: [row(other, 7, isFresh: false), row(living, 7, isFresh: false)], now: at(0))
        #expect(roster.alive.isEmpty && roster.gone.isEmpty && roster.hasDoubts)
        roster.look(at: [row(other, 7, isFresh: false), row(living, 8, isFresh: false)], now: at(5))
        #expect(roster.alive.map(\.id) == [living] && roster.gone.isEmpty && roster.hasDoubts)
        roster.look(at: [row(other, 7, isFresh: false), row(living, 9)], now: at(10))
        #expect(roster.gone.map(\.info.id) == [other] && !roster.hasDoubts)
    }

    @Test("A packet shows that its daemon is alive")
    func senders() {
        var roster = DaemonRoster(own: own)
        roster.look(at: [row(other, 1)], now: at(0))
        for time in stride(from: 5.0, through: 60, by: 5) {
            roster.look(at: [row(other, 1)], senders: [other], now: at(time))
            #expect(roster.alive.map(\.id) == [other])
        }
        for time in [65.0, 70] { roster.look(at: [row(other, 1)], now: at(time)) }
        #expect(roster.alive.isEmpty)
        roster.look(at: [row(other, 1)], senders: [other, DaemonID()], now: at(75))
        #expect(roster.alive.map(\.id) == [other])
    }

    @Test("After an outage of the database, no daemon is dead")
    func outage() {
        var roster = DaemonRoster(own: own)
        roster.look(at: [row(other, 1)], now: at(0))
        roster.look(at: [row(other, 1)], now: at(5))
        roster.failed()
        roster.look(at: [row(other, 1)], now: at(10))
        #expect(roster.alive.map(\.id) == [other])
        for time in [15.0, 19.4] {
            roster.look(at: [row(other, 1)], now: at(time))
            #expect(roster.alive.map(\.id) == [other], "\(time)")
        }
        roster.look(at: [row(other, 1)], now: at(19.5))
        #expect(roster.alive.isEmpty)
    }

    @Test("Rows that a restarted server lost don't mean an end")
    func crash() {
        var roster = DaemonRoster(own: own)
        for time in [0.0, 5, 10] { roster.look(at: [row(other, Int(time))], now: at(time)) }
        roster.failed()
        for time in [12.0, 12.1, 17] {
            roster.look(at: [row(own, 1)], now: at(time))
            #expect(roster.alive.map(\.id) == [other], "\(time)")
        }
        roster.look(at: [row(own, 1), row(other, 1)], now: at(18))
        #expect(roster.alive.map(\.id) == [other])
        roster.look(at: [row(own, 1)], now: at(22))
        #expect(roster.alive.isEmpty)
    }

    @Test("A daemon that was stopped itself declares no other daemon dead")
    func stopped() {
        var roster = DaemonRoster(own: own)
        roster.look(at: [row(other, 1)], now: at(0))
        roster.look(at: [row(other, 1)], now: at(30))
        #expect(roster.alive.map(\.id) == [other])
        // The daemon is really dead.
        for time in [35.0, 40] { roster.look(at: [row(other, 1)], now: at(time)) }
        #expect(roster.alive.isEmpty)
    }

    @Test("After any jump of the database's clock, daemons with heartbeats stay alive")
    func clockSteps() {
        let dead = DaemonID()
        for steps in [[true, false, false, false], [true, true, false, true], [true, false, true, true]] {
            var roster = DaemonRoster(own: own)
            for (number, isFresh) in steps.enumerated() {
                roster.look(
                    at: [row(other, number, isFresh: isFresh), row(dead, 7, isFresh: isFresh)],
                    now: at(4.95 * Double(number)))
                #expect(roster.alive.contains { $0.id == other } && !roster.gone.contains { $0.info.id == other })
                #expect(roster.alive.contains { $0.id == dead } == (number < 2), "\(number)")
            }
            #expect(roster.gone.map(\.info.id) == [dead])
        }
    }

    @Test("A row that goes back, as after a failover, counts as a change")
    func backwards() {
        var roster = DaemonRoster(own: own)
        for (time, beats) in [(0.0, 100), (5, 90), (10, 91), (15, 92)] {
            roster.look(at: [row(other, beats, isFresh: false)], now: at(time))
        }
        #expect(roster.alive.map(\.id) == [other])
    }
}
