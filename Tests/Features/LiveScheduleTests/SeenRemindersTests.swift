import Testing

@testable import LiveSchedule
@testable import Scheduling

@Suite struct SeenRemindersTests {
    private func seq(_ batch: Int, _ place: Int = 0) -> Int { batch << 12 | place }

    @Test("In order each is sent once, however many there are")
    func inOrder() {
        var seen = SeenReminders(through: seq(3, 7))
        for batch in 4..<5000 {
            #expect(seen.take(seq(batch), settled: batch - 1) == .inOrder)
            #expect(seen.take(seq(batch, 1), settled: batch - 1) == .inOrder)
        }
        for batch in 0..<5000 { #expect(seen.take(seq(batch, 1), settled: 0) == .seen) }
        #expect(!seen.hasEarly)
    }

    @Test("One before its turn is sent, once, and those before it still are")
    func early() {
        var seen = SeenReminders(through: seq(3))
        #expect(seen.take(seq(6), settled: 3) == .early)
        #expect(seen.take(seq(6), settled: 3) == .seen)
        #expect(seen.take(seq(4), settled: 3) == .inOrder)
        #expect(seen.take(seq(5), settled: 4) == .inOrder)
        // Its turn has come; it was sent.
        #expect(seen.take(seq(6), settled: 5) == .seen)
        #expect(seen.take(seq(7), settled: 6) == .inOrder)
        #expect(!seen.hasEarly)
    }

    @Test("What is settled needs no remembering")
    func settled() {
        var seen = SeenReminders()
        for batch in [9, 5, 7] { #expect(seen.take(seq(batch), settled: 2) == .early) }
        seen.settle(batch: 7)
        #expect(seen.hasEarly)
        for batch in [5, 6, 7, 9] { #expect(seen.take(seq(batch), settled: 7) == .seen) }
        seen.settle(batch: 9)
        #expect(!seen.hasEarly)
        #expect(seen.through == Reminder.lastSeq(of: 9))
    }

    @Test("What comes before its turn has a limit")
    func overflow() {
        var seen = SeenReminders()
        for place in 0..<SeenReminders.earlyLimit { #expect(seen.take(seq(9, place), settled: 0) == .early) }
        #expect(seen.take(seq(10), settled: 0) == .overflow)
    }

    @Test("A number that is no batch's ends nothing")
    func absurd() {
        var seen = SeenReminders()
        seen.settle(batch: .max)
        #expect(seen.take(.max, settled: .max) == .seen)
        #expect(Reminder.lastSeq(of: -1) == 0)
    }
}
