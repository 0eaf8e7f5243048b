import Basics
import Testing

@testable import Domain

/// The shares of networks in the stored totals, with days that pass as the test says.
@Suite struct NetworkSharesTests {
    private static let month = Duration.seconds(30 * 86_400)

    private static func at(day: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000_000 + UInt64(day) * 86_400_000_000_000)
    }

    /// An IPv4 address, or an IPv6 address by its three networks.
    private static func requester(_ networks: UInt128...) -> Requester { Requester(networks: networks) }

    /// Adds sessions one by one until the share is used up, and returns how many were added.
    private static func fill(_ shares: inout NetworkShares, _ requester: Requester, day: Int, limit: Int = 1600) -> Int
    {
        var count = 0
        while shares.pay(1, for: .sessions, of: requester, limit: limit, time: month, at: at(day: day)) == nil {
            count += 1
        }
        return count
    }

    @Test("An address adds its share at once, and again within the retention time")
    func address() {
        var shares = NetworkShares()
        let first = Self.fill(&shares, Self.requester(1), day: 0)
        let later = Self.fill(&shares, Self.requester(1), day: 15)
        let after = Self.fill(&shares, Self.requester(1), day: 45)
        #expect(first == 100 && later == 50 && after == 100)
        let other = Self.fill(&shares, Self.requester(2), day: 45)
        #expect(other == 100)
    }

    @Test("An IPv6 site adds at most a quarter of a total at once")
    func site() {
        var shares = NetworkShares()
        var count = 0
        for home in 0..<20 {
            for subscriber in 0..<20 {
                let networks = Self.requester(UInt128(1000 + home * 100 + subscriber), UInt128(100 + home), 7)
                count += Self.fill(&shares, networks, day: 0)
            }
        }
        #expect(count == 400)
        let neighbour = Self.fill(&shares, Self.requester(9001, 901, 8), day: 0)
        #expect(neighbour == 100)
    }

    @Test("A refusal says when there is room for what was refused")
    func waiting() throws {
        var shares = NetworkShares()
        _ = Self.fill(&shares, Self.requester(1), day: 0)
        let refused = shares.pay(
            1, for: .sessions, of: Self.requester(1), limit: 1600, time: Self.month, at: Self.at(day: 0))
        let seconds = try #require(refused)
        #expect(abs(seconds - 30 * 864) <= 1)
    }

    @Test("Tables have separate shares, and returned space can be used again")
    func givenBack() {
        var shares = NetworkShares()
        _ = Self.fill(&shares, Self.requester(1), day: 0)
        let other = shares.pay(
            14, for: .tasks, of: Self.requester(1), limit: 1600, time: Self.month, at: Self.at(day: 0))
        #expect(other == nil)
        shares.giveBack(3, for: .sessions, of: Self.requester(1), limit: 1600, time: Self.month)
        let again = Self.fill(&shares, Self.requester(1), day: 0)
        #expect(again == 3)
    }

    @Test("A share smaller than one addition still allows the first addition")
    func smallShare() {
        var shares = NetworkShares()
        let first = shares.pay(14, for: .tasks, of: Self.requester(1), limit: 3, time: Self.month, at: Self.at(day: 0))
        let second = shares.pay(1, for: .tasks, of: Self.requester(1), limit: 3, time: Self.month, at: Self.at(day: 0))
        #expect(first == nil && second != nil)
    }

    @Test("The networks that added most are remembered if memory is limited")
    func capacity() {
        var shares = NetworkShares()
        _ = Self.fill(&shares, Self.requester(0), day: 0)
        for network in 1...NetworkShares.capacity {
            _ = shares.pay(
                1, for: .sessions, of: Self.requester(UInt128(network)), limit: 1600, time: Self.month,
                at: Self.at(day: 0))
        }
        let first = Self.fill(&shares, Self.requester(0), day: 0)
        #expect(shares.count <= NetworkShares.capacity && first == 0)
    }
}
