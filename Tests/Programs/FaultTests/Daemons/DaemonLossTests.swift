import BusTestSupport
import Foundation
import Glibc
import JourneyTestSupport
import Matches
import Postgres
import Settings
import TestSupport
import Testing

@testable import LetsSwitch

/// One of three daemons on one database is killed or stopped, or its clock jumps, while all peers send ales.
@Suite struct DaemonLossTests {
    /// Whether `make interop` runs the tests, which then take longer.
    private static let isLong = ProcessInfo.processInfo.environment["LETSSWITCH_INTEROP"] != nil

    /// Sends ales until it is stopped, and no faster than they are received. Otherwise a busy machine would need
    /// minutes for the ales of a few seconds.
    private final class Load {
        /// The maximum number of ales that a peer hasn't received yet, on average in its room.
        private static let maxBehind = 8
        /// The milliseconds between two ales of a peer. More ales would slow down the tests that run at the same time.
        private static let pause = isLong ? 2...20 : 20...200

        private let stop = EventRecorder<Void>()
        private let task: Task<Void, any Error>

        init(_ peers: [FleetPeer]) {
            if !isLong { SkippedTests.report("nine of ten cheers while a daemon is lost: make interop-daemons") }
            task = Task { [stop] in try await Load.cheer(peers, until: stop) }
        }

        private static func cheer(_ peers: [FleetPeer], until stop: EventRecorder<Void>) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for peer in peers {
                    group.addTask {
                        let room = peers.filter { $0.room == peer.room }
                        while stop.all.isEmpty {
                            try await Task.sleep(for: .milliseconds(Int.random(in: pause)))
                            let missing = await FleetCrowd.missing(among: room).reduce(0, +)
                            if missing < maxBehind * room.count { try await peer.send() }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        func end() async throws {
            stop.append(())
            try await task.value
        }
    }

    @Test(
        "`kill -9` of a daemon under load loses no ales between the others"
    )
    func killed() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(3, in: journey)
            let crowd = try await FleetCrowd.gather(rooms: 4, of: 9, at: fleet.endpoints)
            let survivors = crowd.peers(at: 0, 1)
            let room = crowd.rooms[0]
            let watcher = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true")
            try await watcher.waitForCount(10)
            let load = Load(survivors)
            try await eventually("ales") { await survivors.asyncReceived > 200 }
            try await fleet[2].process.kill9()
            let seen = await survivors.asyncReceived
            try await eventually("more ales") { await survivors.asyncReceived > seen + 200 }
            let alive = survivors.count { $0.room == room }
            // The documented limit is fifteen seconds. It isn't checked here, because a busy machine may need longer.
            try await watcher.waitForCount(alive + 1)
            try await load.end()
            await watcher.leave()
            try await FleetCrowd.expectWhole(survivors, seed: crowd.seed)
            for index in [0, 1] { #expect(try await fleet.lost(at: index) == 0) }
            for index in [0, 1] { try await DaemonFleet.wait(at: fleet.endpoints[index], others: 1) }
        }
    }

    @Test("A daemon that is stopped and continued recovers")
    func stopped() async throws {
        if !Self.isLong { SkippedTests.report("a daemon stopped for 30 s (2 s instead): make interop") }
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(3, in: journey)
            let crowd = try await FleetCrowd.gather(rooms: 4, of: 9, at: fleet.endpoints)
            let others = crowd.peers(at: 0, 1)
            let load = Load(others)
            try await eventually("ales") { await others.asyncReceived > 200 }
            try await fleet[2].process.freeze()
            // The duration of the freeze is the subject of the test.
            try await Task.sleep(for: .seconds(Self.isLong ? 30 : 2))
            let itsPeers = crowd.peers(at: 2)
            let before = await itsPeers.asyncReceived
            await fleet[2].process.thaw()
            try await Recovery.expect(after: "a daemon's standstill") {
                try await eventually("ales at its peers") { await itsPeers.asyncReceived > before }
                try await fleet.waitUntilTogether()
            }
            try await load.end()
            let missing = await FleetCrowd.missing(among: crowd.peers)
            #expect(missing.allSatisfy { $0 >= 0 })
            try await FleetCrowd.expectWhole(others, seed: crowd.seed)
            for index in [0, 1] { #expect(try await fleet.lost(at: index) == 0) }
            if !Self.isLong {
                // No ale was lost: the database kept the payloads meanwhile.
                try await FleetCrowd.expectWhole(crowd.peers, seed: crowd.seed)
                #expect(try await fleet.lost(at: 2) == 0)
            }
            try await Self.expectNewAlesEverywhere(crowd.peers)
        }
    }

    /// Sends ales, and checks that they arrive at all peers, even if earlier ones were lost.
    private static func expectNewAlesEverywhere(_ peers: [FleetPeer]) async throws {
        let before = await FleetCrowd.missing(among: peers)
        for peer in peers { try await peer.send() }
        try await eventually("new ales everywhere") { await FleetCrowd.missing(among: peers) == before }
        for peer in peers { #expect(await peer.isConnected) }
    }

    @Test(
        "A clock jump under load doesn't disturb the daemons"
    )
    func clockSteps() async throws {
        try await Journey.run { journey in
            var daemons: [(daemon: Daemon, endpoint: ClientEndpoint)] = []
            for _ in 0..<3 { daemons.append(try await journey.daemonAndEndpoint { $0.matches.openRooms = true }) }
            let endpoints = daemons.map(\.endpoint)
            for endpoint in endpoints { try await DaemonFleet.wait(at: endpoint, others: 2) }
            let crowd = try await FleetCrowd.gather(rooms: 2, of: 3, at: endpoints)
            let (room, person) = (UUID(), UUID().uuidString)
            let watcher = try await FleetPeer.enter(room, at: endpoints[0], "&presence=true")
            let guest = try await FleetPeer.enter(room, at: endpoints[1], daemon: 1, "&taskId=\(person)")
            try await watcher.waitForCount(2)
            let streams = try await endpoints.asyncMap { try await $0.reminders(of: "ada") }
            let load = Load(crowd.peers)

            // Sets the clock ahead, then back before its beginning, and then to its beginning.
            for (number, seconds) in [3_600, -7_200, 3_600].enumerated() {
                let start = try await journey.instant(in: seconds + 90)
                // The task becomes due during the jump, or within half a minute after it.
                if seconds > 0 { try await endpoints[number].register("ada", start, "\(number)") }
                try await journey.move(by: Double(seconds))
                for (daemon, _) in daemons { await daemon.clockWasSet() }
                if seconds < 0 {
                    let soon = try await journey.instant(in: 600)
                    try await endpoints[number].register("ada", soon, "\(number)")
                    try await journey.advance(to: soon, -59)
                } else {
                    try await journey.advance(to: start, -59)
                }
                for stream in streams { #expect(try await stream.nextReminder().title == "\(number)") }
                // Waits until all daemons have looked at each other's rows twice with the new time.
                let beats = try await journey.sql("SELECT min(beats) AS n FROM core.daemon")[0].integer("n")
                try await journey.wait(
                    until: "(SELECT min(beats) > \(beats + 1) AND count(*) = 3 FROM core.daemon)")
                for endpoint in endpoints { try await DaemonFleet.wait(at: endpoint, others: 2) }
            }
            try await load.end()
            try await FleetCrowd.expectWhole(crowd.peers, seed: crowd.seed)
            #expect(await watcher.counts == [1, 2])
            #expect(await guest.isConnected)
            for endpoint in endpoints {
                #expect(try await MetricsReading(endpoint).sum("letsswitch_bus_lost_total") == 0)
            }
            try await journey.expectDelivered(3)
        }
    }
}

extension [FleetPeer] {
    /// The number of ales that these peers have received together.
    fileprivate var asyncReceived: Int {
        get async {
            var sum = 0
            for peer in self { sum += await peer.received }
            return sum
        }
    }
}
