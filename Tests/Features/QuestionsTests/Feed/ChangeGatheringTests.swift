import Basics
import Testing

@testable import Questions

/// Gathered changes, with a clock that the test sets.
@Suite struct ChangeGatheringTests {
    private func time(_ milliseconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000_000 + milliseconds * 1_000_000)
    }

    @Test("The first change after a pause is read at once, and later ones are gathered")
    func gathers() {
        var gathering = ChangeGathering(from: 7)
        #expect(gathering.changed(to: 7, at: time(0)) == .none)
        #expect(gathering.changed(to: 8, at: time(0)) == .read(after: 7))
        #expect(gathering.changed(to: 9, at: time(1)) == .none)
        #expect(gathering.published(through: 8, of: 8, at: time(5)) == .wait(.milliseconds(250)))
        for version in 10..<100 { #expect(gathering.changed(to: version, at: time(20)) == .none) }
        #expect(gathering.timeHasCome() == .read(after: 8))
        #expect(gathering.published(through: 99, of: 99, at: time(260)) == .none)
        #expect(gathering.changed(to: 100, at: time(400)) == .wait(.milliseconds(110)))
        #expect(gathering.timeHasCome() == .read(after: 99))
        #expect(gathering.published(through: 100, of: 100, at: time(511)) == .none)
        #expect(gathering.changed(to: 101, at: time(761)) == .read(after: 100))
    }

    @Test("Changes that don't fit are read a quarter of a second later")
    func parts() {
        var gathering = ChangeGathering(from: 0)
        #expect(gathering.changed(to: 300, at: time(0)) == .read(after: 0))
        #expect(gathering.published(through: 100, of: 300, at: time(10)) == .wait(.milliseconds(250)))
        #expect(gathering.timeHasCome() == .read(after: 100))
        #expect(gathering.published(through: 300, of: 300, at: time(270)) == .none)
        #expect(gathering.changed(to: 120, at: time(900)) == .none)
        #expect(gathering.published == 300)
    }

    @Test("After lost notifications, changes are read once")
    func doubt() {
        var gathering = ChangeGathering(from: 5)
        #expect(gathering.changed(to: nil, at: time(0)) == .read(after: 5))
        #expect(gathering.published(through: 5, of: 5, at: time(3)) == .none)
        #expect(gathering.changed(to: 1_000_000, at: time(300)) == .read(after: 5))
        #expect(gathering.published(through: 5, of: 5, at: time(303)) == .none)
        // A restored database continues at an earlier version.
        #expect(gathering.changed(to: nil, at: time(900)) == .read(after: 5))
        #expect(gathering.published(through: 2, of: 2, at: time(903)) == .none)
        #expect(gathering.changed(to: 3, at: time(2000)) == .read(after: 2))
    }

    @Test("A failed read is repeated after a second")
    func failure() {
        var gathering = ChangeGathering(from: 0)
        #expect(gathering.changed(to: 1, at: time(0)) == .read(after: 0))
        #expect(gathering.failed() == .wait(.seconds(1)))
        #expect(gathering.changed(to: 2, at: time(500)) == .none)
        #expect(gathering.timeHasCome() == .read(after: 0))
        #expect(gathering.timeHasCome() == .none)
        #expect(gathering.published(through: 2, of: 2, at: time(1010)) == .none)
    }
}
