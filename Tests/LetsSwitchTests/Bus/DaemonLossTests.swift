import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

@testable import LetsSwitch

/// One of three daemons on one database is killed, stands still, or its clock jumps, while everybody cheers.
@Suite struct DaemonLossTests {
    /// `make interop` sets it.
    private static let isLong = ProcessInfo.processInfo.environment["LETSSWITCH_INTEROP"] != nil

    /// Cheers until it is told to stop.
    private final class Load {
        private let stop = EventRecorder<Void>()
        private let task: Task<Void, any Error>

        init(_ peers: [FleetPeer]) {
            task = Task { [stop] in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for peer in peers {
                        group.addTask {
                            while stop.all.isEmpty {
                                try await peer.say()
                                try await Task.sleep(for: .milliseconds(Int.random(in: 1...10)))
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }

        func end() async throws {
            stop.append(())
            try await task.value
        }
    }

    @Test("kill -9 of one under load: the others' peers miss nothing of each other, and its members are soon gone")
    func killed() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(3, in: journey)
            let crowd = try await FleetCrowd.gather(rooms: 4, of: 9, at: fleet.endpoints)
            let survivors = crowd.peers(at: 0, 1)
            let room = crowd.rooms[0]
            let watcher = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true")
            try await watcher.waitForCount(10)
            let load = Load(survivors)
            try await eventually("ales") { await survivors.asyncHeard > 200 }
            try await fleet[2].process.kill9()
            let seen = await survivors.asyncHeard
            try await eventually("more ales") { await survivors.asyncHeard > seen + 200 }
            let alive = survivors.count { $0.room == room }
            // Fifteen seconds: no bound here, or a busy machine would break it.
            try await watcher.waitForCount(alive + 1)
            try await load.end()
            await watcher.leave()
            try await FleetCrowd.expectWhole(survivors, seed: crowd.seed)
            for index in [0, 1] { #expect(try await fleet.lost(at: index) == 0) }
            for index in [0, 1] { try await DaemonFleet.wait(at: fleet.endpoints[index], others: 1) }
        }
    }

    @Test("a daemon that stands still and goes on cuts nobody off, and all is whole again; the others never stopped")
    func stopped() async throws {
        if !Self.isLong { LeftOut.say("a daemon stopped for 30 s (2 s instead): make interop") }
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(3, in: journey)
            let crowd = try await FleetCrowd.gather(rooms: 4, of: 9, at: fleet.endpoints)
            let others = crowd.peers(at: 0, 1)
            let load = Load(others)
            try await eventually("ales") { await others.asyncHeard > 200 }
            try await fleet[2].process.freeze()
            // How long is what the test is about.
            try await Task.sleep(for: .seconds(Self.isLong ? 30 : 2))
            await fleet[2].process.thaw()
            try await fleet.waitUntilTogether()
            try await load.end()
            let missing = await FleetCrowd.missing(among: crowd.peers)
            #expect(missing.allSatisfy { $0 >= 0 })
            try await FleetCrowd.expectWhole(others, seed: crowd.seed)
            for index in [0, 1] { #expect(try await fleet.lost(at: index) == 0) }
            if !Self.isLong {
                // Nothing was lost: the database has kept what was said to it.
                try await FleetCrowd.expectWhole(crowd.peers, seed: crowd.seed)
                #expect(try await fleet.lost(at: 2) == 0)
            }
            try await Self.expectNewAlesEverywhere(crowd.peers)
        }
    }

    /// What is said from now on comes everywhere, whatever was lost before.
    private static func expectNewAlesEverywhere(_ peers: [FleetPeer]) async throws {
        let before = await FleetCrowd.missing(among: peers)
        for peer in peers { try await peer.say() }
        try await eventually("new ales everywhere") { await FleetCrowd.missing(among: peers) == before }
        for peer in peers { #expect(await peer.isConnected) }
    }

    @Test("the clock jumps ahead and back: nobody is given up, nobody's presence moves, and ales go on")
    func clockSteps() async throws {
        try await Journey.run { journey in
            let (one, first) = try await journey.daemonAndEndpoint { $0.openRooms = true }
            let (other, second) = try await journey.daemonAndEndpoint { $0.openRooms = true }
            for endpoint in [first, second] { try await DaemonFleet.wait(at: endpoint, others: 1) }
            let room = UUID()
            let ada = try await FleetPeer.enter(room, at: first, "&presence=true")
            let bob = try await FleetPeer.enter(
                room, at: second, daemon: 1, "&presence=true&taskId=\(UUID().uuidString)")
            for peer in [ada, bob] { try await peer.waitForCount(2) }
            for seconds in [3_600, -7_200] {
                try await journey.sql("UPDATE letsswitch.test_clock SET shift = shift + interval '\(seconds) s'")
                for daemon in [one, other] { await daemon.clockWasSet() }
                // Both look at each other's rows twice with the new time.
                let beats = try await journey.sql("SELECT min(beats) AS n FROM letsswitch.daemon")[0].integer("n")
                try await journey.wait(
                    until: "(SELECT min(beats) > \(beats + 1) AND count(*) = 2 FROM letsswitch.daemon)")
                for endpoint in [first, second] { try await DaemonFleet.wait(at: endpoint, others: 1) }
                try await FleetCrowd.expectWhole([ada, bob])
            }
            for peer in [ada, bob] { #expect(await peer.counts.suffix(1) == [2]) }
            #expect(await ada.counts == [1, 2])
            for endpoint in [first, second] {
                #expect(try await MetricsReading(endpoint).sum("letsswitch_bus_lost_total") == 0)
            }
        }
    }
}

extension [FleetPeer] {
    /// How many ales these peers have heard, taken together.
    fileprivate var asyncHeard: Int {
        get async {
            var sum = 0
            for peer in self { sum += await peer.heard }
            return sum
        }
    }
}
