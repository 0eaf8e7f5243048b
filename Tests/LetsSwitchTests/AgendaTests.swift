import FoundationEssentials
import Sockets
import Testing

@testable import LetsSwitch

@Suite struct AgendaTests {
    private let start = MonotonicTime.now()
    private let room = UUID()

    /// An agenda that has read the database's clock, at 1,000 seconds, when `start` was.
    private func agenda(due: Double? = nil) -> Agenda {
        var agenda = Agenda()
        agenda.willRead()
        agenda.read(clock: 1000, due: due, at: start)
        return agenda
    }

    @Test("nothing is due before the database's clock was read, and it is to be read at once")
    func unread() {
        let agenda = Agenda()
        #expect(!agenda.isDue(at: start))
        #expect(agenda.pause(at: start) == .zero)
    }

    @Test("the sleep ends when the earliest is due, and no later than the heartbeat")
    func pause() {
        #expect(agenda(due: 1003).pause(at: start + .seconds(1)) == .seconds(2))
        #expect(agenda(due: 1003).pause(at: start + .seconds(9)) == .zero)
        #expect(agenda(due: 5000).pause(at: start) == Agenda.heartbeat)
        #expect(agenda().pause(at: start) == Agenda.heartbeat)
        #expect(agenda(due: 1003).isDue(at: start + .seconds(3)))
        #expect(!agenda(due: 1003).isDue(at: start + .seconds(2)))
    }

    @Test("what is heard of shortens the sleep if it is earlier than all that was known")
    func expectation() {
        var agenda = agenda(due: 1010)
        let wakes = [agenda.expect(1011), agenda.expect(1005)]
        #expect(wakes == [false, true])
        #expect(agenda.pause(at: start) == .seconds(5))
    }

    @Test("what is heard of while the database is asked is not lost with an older answer")
    func expectationDuringARead() {
        // The task that is due now was claimed; the answer, on its way, knows of nothing more; then one is registered.
        var agenda = agenda(due: 1000)
        agenda.willRead()
        let wakes = agenda.expect(1002)
        #expect(!wakes)
        agenda.read(clock: 1001, due: nil, at: start + .seconds(1))
        #expect(agenda.pause(at: start + .seconds(1)) == .seconds(1))
        // The next answer knows better: it was cancelled.
        agenda.willRead()
        agenda.read(clock: 1001, due: nil, at: start + .seconds(1))
        #expect(agenda.pause(at: start + .seconds(1)) == Agenda.heartbeat)
    }

    @Test("a room closes once, however often one is told when")
    func closings() {
        var agenda = agenda()
        let isNews = [agenda.close(room, at: 1004), agenda.close(room, at: 1004)]
        #expect(isNews == [true, false])
        #expect(agenda.pause(at: start) == .seconds(4))
        let taken = [3, 4, 4].map { agenda.takeClosings(at: start + .seconds($0)) }
        #expect(taken == [[], [room], []])
    }
}
