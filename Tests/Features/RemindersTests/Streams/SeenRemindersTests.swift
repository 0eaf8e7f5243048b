import Testing

@testable import Reminders

@Suite struct SeenRemindersTests {
    private func seq(_ batch: Int, _ place: Int = 0) -> Int { batch << 12 | place }

    @Test("Reminders in order are sent once, however many there are")
    func inOrder() {
        var seen = SeenReminders(through: seq(3, 7))
        for batch in 4..<5000 {
            #expect(seen.take(seq(batch), settled: batch - 1) == .inOrder)
            #expect(seen.take(seq(batch, 1), settled: batch - 1) == .inOrder)
        }
        for batch in 0..<5000 { #expect(seen.take(seq(batch, 1), settled: 0) == .seen) }
        #expect(!seen.hasEarly)
    }

    @Test("An early reminder is sent once, and earlier ones follow")
    func early() {
        var seen = SeenReminders(through: seq(3))
        #expect(seen.take(seq(6), settled: 3) == .early)
        #expect(seen.take(seq(6), settled: 3) == .seen)
        #expect(seen.take(seq(4), settled: 3) == .inOrder)
        #expect(seen.take(seq(5), settled: 4) == .inOrder)
        // Reminder 6 is the next in order, but it was sent early.
        #expect(seen.take(seq(6), settled: 5) == .seen)
        #expect(seen.take(seq(7), settled: 6) == .inOrder)
        #expect(!seen.hasEarly)
    }

    @Test("Settled reminders needn't be remembered")
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

    @Test("The number of early reminders is limited")
    func overflow() {
        var seen = SeenReminders()
        for place in 0..<SeenReminders.earlyLimit { #expect(seen.take(seq(9, place), settled: 0) == .early) }
        #expect(seen.take(seq(10), settled: 0) == .overflow)
    }

    @Test("A number that isn't a batch's is harmless")
    func absurd() {
        var seen = SeenReminders()
        seen.settle(batch: .max)
        #expect(seen.take(.max, settled: .max) == .seen)
        #expect(Reminder.lastSeq(of: -1) == 0)
    }
}
