import FoundationEssentials
import Testing

@testable import Rooms

/// The members of a room on several daemons. Each daemon names a limited number.
@Suite struct RoomMembersTests {
    private static let people = (0..<60_000).map { _ in UUID() }
    private static let limit = 16_384

    /// Returns the number of people that the daemons calculate from each other's reports. Each part lists the people on
    /// one daemon.
    private func headcount(_ parts: [Range<Int>], anonymous: Int = 0) -> Int {
        var sum = RoomMembers()
        for part in parts {
            let members = RoomMembers(
                connections: part.count + anonymous, anonymous: anonymous, people: Set(Self.people[part]))
            sum.add(members.naming(atMost: Self.limit))
        }
        return sum.headcount
    }

    @Test("Each named person counts once", arguments: [0..<1, 0..<16_384, 8_192..<24_576])
    func named(part: Range<Int>) {
        #expect(headcount([0..<16_384, part]) == max(16_384, part.upperBound))
    }

    @Test(
        "In large rooms each person counts once too, within about one percent",
        arguments: [
            // The same people on both daemons, half of them, or others; few and many; and more than two daemons.
            [0..<40_000, 0..<40_000], [0..<40_000, 20_000..<60_000], [0..<30_000, 30_000..<60_000],
            [0..<40_000, 0..<100], [0..<100, 100..<40_000], [0..<20_000, 0..<60_000],
            [0..<20_000, 10_000..<30_000, 0..<30_000, 29_990..<30_000], [0..<25_000, 0..<25_000, 0..<25_000],
        ])
    func crowds(parts: [Range<Int>]) throws {
        let exact = Set(parts.flatMap { Array($0) }).count
        for parts in [parts, parts.reversed()] {
            let estimate = headcount(parts, anonymous: 500) - 500 * parts.count
            #expect(abs(estimate - exact) <= exact / 25, "\(estimate) of \(exact)")
        }
    }

    @Test("Unnamed people of a large room are counted")
    func nameless() {
        var sum = RoomMembers(unnamed: 5)
        sum.add(RoomMembers(people: [Self.people[0]]))
        #expect(sum.headcount == 6)
    }
}
