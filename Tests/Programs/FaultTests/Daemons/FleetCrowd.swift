import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// Peers in rooms, distributed randomly over daemons.
struct FleetCrowd {
    let peers: [FleetPeer]
    let rooms: [UUID]
    /// The seed of this run. `LETSSWITCH_TEST_SEED` repeats it.
    let seed: UInt64

    /// Connects `size` peers per room. The first peers of each room are distributed over the daemons, so that every
    /// daemon has a member of every room.
    static func gather(rooms: Int, of size: Int, at endpoints: [ClientEndpoint]) async throws -> FleetCrowd {
        let seed =
            ProcessInfo.processInfo.environment["LETSSWITCH_TEST_SEED"].flatMap { UInt64($0) }
            ?? .random(in: 0..<1_000_000_000)
        var random = SeededRandom(seed: seed)
        let ids = (0..<rooms).map { _ in UUID() }
        var peers: [FleetPeer] = []
        for room in ids {
            for number in 0..<size {
                let daemon =
                    number < endpoints.count ? number : Int.random(in: endpoints.indices, using: &random)
                // One peer per daemon and room asks for presence.
                let query = number < endpoints.count ? "&presence=true" : ""
                peers.append(try await FleetPeer.enter(room, at: endpoints[daemon], daemon: daemon, query))
            }
            // Each daemon knows which others need the room's ales.
            for peer in peers.suffix(size).prefix(endpoints.count) { try await peer.waitForCount(size) }
        }
        return FleetCrowd(peers: peers, rooms: ids, seed: seed)
    }

    func peers(at daemons: Int...) -> [FleetPeer] {
        peers.filter { daemons.contains($0.daemon) }
    }

    /// Every peer sends up to `most` ales, all at the same time.
    static func cheer(_ peers: [FleetPeer], upTo most: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for peer in peers {
                let ales = Int.random(in: 1...most)
                group.addTask {
                    for _ in 0..<ales { try await peer.send() }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Returns for each peer the number of the room's other ales that it hasn't received; negative if it received too
    /// many.
    static func missing(among peers: [FleetPeer]) async -> [Int] {
        var sent: [UUID: Int] = [:]
        for peer in peers { sent[peer.room, default: 0] += await peer.sent }
        var missing: [Int] = []
        for peer in peers { missing.append(sent[peer.room, default: 0] - (await peer.sent) - (await peer.received)) }
        return missing
    }

    /// Returns when each of these peers has received every ale of the room's other peers exactly once, and none of its
    /// own.
    static func expectWhole(_ peers: [FleetPeer], seed: UInt64 = 0) async throws {
        // A surplus ale would arrive before the next one.
        for _ in 0..<2 {
            try await waitUntilWhole(peers)
            for peer in peers { try await peer.send() }
        }
        try await waitUntilWhole(peers)
        for peer in peers {
            #expect(await peer.isConnected, "LETSSWITCH_TEST_SEED=\(seed)")
            #expect(await peer.objections == [], "LETSSWITCH_TEST_SEED=\(seed)")
        }
    }

    private static func waitUntilWhole(_ peers: [FleetPeer]) async throws {
        try await eventually("all ales at all peers") {
            let missing = await missing(among: peers)
            guard missing.allSatisfy({ $0 >= 0 }) else {
                throw ClientFailure.violation("ales that nobody else has said: \(missing)")
            }
            return missing.allSatisfy { $0 == 0 }
        }
    }
}
