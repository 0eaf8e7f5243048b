import Foundation
import Testing

/// Tests of the checker of ales: it must find each fault.
@Suite struct TortureCrowdTests {
    private static let room = UUID()
    private static let one = TortureWorld.Incarnation(daemon: 0, process: 1)
    private static let other = TortureWorld.Incarnation(daemon: 1, process: 2)

    /// Returns the violations if three users sent 5, 3 and 0 ales and received these numbers of ales.
    private func violations(
        received: [Int], whole: [Bool] = [true, true, true], lost: [TortureWorld.Incarnation: Int] = [:]
    ) -> [String] {
        let tallies = [5, 3, 0].enumerated().map { number, sent in
            TortureCrowd.Tally(
                visit: number, room: Self.room, daemon: number == 0 ? Self.one : Self.other, sent: sent,
                received: received[number], isWhole: whole[number])
        }
        let stranger = TortureCrowd.Tally(visit: 3, room: UUID(), daemon: Self.one, sent: 100)
        return TortureCrowd.violations(in: tallies + [stranger], lost: lost)
    }

    @Test("Every peer has received the others' ales")
    func whole() {
        #expect(violations(received: [3, 5, 8]) == [])
    }

    @Test(
        "An ale that a peer must not have received is found",
        arguments: [[4, 5, 8], [3, 6, 8], [3, 5, 9], [8, 8, 8]])
    func tooMany(received: [Int]) {
        #expect(!violations(received: received).isEmpty)
    }

    @Test(
        "A missing ale was counted as lost, or concerns a killed daemon's peer"
    )
    func missing() {
        #expect(!violations(received: [3, 4, 8]).isEmpty)
        #expect(!violations(received: [3, 4, 8], lost: [Self.one: 1]).isEmpty)
        #expect(violations(received: [3, 4, 8], lost: [Self.other: 1]) == [])
        #expect(violations(received: [3, 0, 3], whole: [false, true, true]) == [])
        #expect(violations(received: [3, 0, 8], whole: [true, false, true]) == [])
        #expect(!violations(received: [2, 5, 8], whole: [true, true, false]).isEmpty)
    }
}
