import Basics
import FoundationEssentials
import Testing

@testable import Domain
@testable import Reminders

@Suite struct AgendaTests {
    private let start = MonotonicTime.now()
    private let room = UUID()

    /// Returns an agenda that read 1,000 seconds from the database's clock at `start`.
    private func agenda(due: Double? = nil, expiry: Double? = nil) -> Agenda {
        var agenda = Agenda()
        agenda.willRead()
        agenda.read(clock: 1000, due: due, expiry: expiry, at: start)
        return agenda
    }

    @Test("Nothing is known before the database's clock is read")
    func unread() {
        let agenda = Agenda()
        #expect(!agenda.isRead && agenda.overdue(at: start) == nil)
        #expect(agenda.pauses(at: start).due == nil)
    }

    @Test("Due and expiry times are measured by the database's clock")
    func pauses() {
        #expect(agenda(due: 1003).pauses(at: start + .seconds(1)).due == .seconds(2))
        #expect(agenda(due: 1003).pauses(at: start + .seconds(9)).due == .zero)
        #expect(agenda(expiry: 1003).pauses(at: start + .seconds(1)).expiry == .seconds(2))
        #expect(agenda(due: 1003).overdue(at: start + .seconds(2)) == nil)
        #expect(agenda(due: 1003).overdue(at: start + .seconds(5)) == .seconds(2))
        #expect(agenda().pauses(at: start).due == nil && agenda().pauses(at: start).expiry == nil)
    }

    @Test("An invalid time is ignored, and extreme ones are clamped")
    func extremes() {
        for epoch in [Double.nan, .signalingNaN, .infinity, -.infinity] {
            var agenda = agenda(due: 1010)
            let wakes = agenda.expect(epoch)
            #expect(!wakes && agenda.due == 1010)
        }
        #expect(agenda(due: -1e300).pauses(at: start).due == .zero)
        let far = agenda(due: 1e300).pauses(at: start).due
        #expect(far.map { $0 > Agenda.heartbeat } == true)
        #expect(agenda(due: -1e300).overdue(at: start).map { $0 > .seconds(1e9) } == true)
    }

    @Test("A reported time counts if it is the earliest")
    func expectation() {
        var agenda = agenda(due: 1010)
        let wakes = [agenda.expect(1011), agenda.expect(1005)]
        #expect(wakes == [false, true])
        #expect(agenda.pauses(at: start).due == .seconds(5))
    }

    @Test("A time reported during a query survives an older answer")
    func expectationDuringARead() {
        // The due task was claimed. A query that found no other task is still in progress when a task is registered.
        var agenda = agenda(due: 1000)
        agenda.willRead()
        let wakes = agenda.expect(1002)
        #expect(!wakes)
        agenda.read(clock: 1001, due: nil, expiry: nil, at: start + .seconds(1))
        #expect(agenda.pauses(at: start + .seconds(1)).due == .seconds(1))
        // The next query finds no task, because the task was cancelled.
        agenda.willRead()
        agenda.read(clock: 1001, due: nil, expiry: nil, at: start + .seconds(1))
        #expect(agenda.pauses(at: start + .seconds(1)).due == nil)
    }

    @Test("A room closes once, however often its time is reported")
    func closings() {
        var agenda = agenda()
        let isNews = [agenda.close(room, at: 1004), agenda.close(room, at: 1004)]
        #expect(isNews == [true, false])
        #expect(agenda.pauses(at: start).closing == .seconds(4))
        let taken = [3, 4, 4].map { agenda.takeClosings(at: start + .seconds($0)) }
        #expect(taken == [[], [room], []])
    }
}
