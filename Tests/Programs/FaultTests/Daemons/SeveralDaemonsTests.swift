import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// Two and three daemons on one database, which work like one server.
@Suite struct SeveralDaemonsTests {
    @Test("Every ale reaches every other member of its room once, on any daemon", arguments: [2, 3])
    func everybodyOnce(count: Int) async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(count, in: journey)
            let crowd = try await FleetCrowd.gather(rooms: 5, of: 8, at: fleet.endpoints)
            for _ in 0..<3 {
                try await FleetCrowd.cheer(crowd.peers, upTo: 40)
                try await FleetCrowd.expectWhole(crowd.peers, seed: crowd.seed)
            }
            for index in 0..<count { #expect(try await fleet.lost(at: index) == 0) }
        }
    }

    @Test("An empty room sends nothing over the bus")
    func comingAndGoing() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(2, in: journey)
            let room = UUID()
            let ada = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true")
            try await ada.waitForCount(1)
            try await ada.send(10)
            for _ in 0..<3 {
                let guest = try await FleetPeer.enter(room, at: fleet.endpoints[1], daemon: 1)
                try await ada.waitForCount(2)
                // Ales reach the guest's daemon a moment later than word of the guest reaches this one.
                var sent = 0
                try await eventually("an ale") {
                    try await ada.send()
                    sent += 1
                    return await guest.received > 0
                }
                let first = await guest.received
                try await ada.send(5)
                try await eventually("five more ales") { await guest.received >= first + 5 }
                // The guest receives no ale from before it entered.
                #expect(await guest.received <= sent + 5)
                try await guest.send(1)
                await guest.leave()
                try await ada.waitForCount(1)
            }
            try await eventually("the guests' ales") { await ada.received == 3 }
            // Ada is alone again. The daemons exchange packets, but none for ales.
            func sent() async throws -> Double {
                try await MetricsReading(fleet.endpoints[0])[#"letsswitch_bus_packets_total{direction="out"}"#]
            }
            let before = try await sent()
            try await ada.send(2_000)
            let other = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true")
            try await ada.waitForCount(2)
            #expect(await other.received == 0)
            #expect(try await sent() - before < 200)
            #expect(try await fleet.lost(at: 1) == 0)
        }
    }

    @Test("A new member receives all ales after a quarter of a second, on any daemon")
    func arrival() async throws {
        try await Journey.run { journey in
            var fleet = try await DaemonFleet.start(2, in: journey)
            // A busy machine may stand still for longer than that quarter of a second, but not each time.
            var outcomes: [Bool] = []
            let began = ContinuousClock.now
            while outcomes.last != true, ContinuousClock.now - began < Deadline.standard {
                let room = UUID()
                let ada = try await FleetPeer.enter(room, at: fleet.endpoints[0])
                try await fleet.add(in: journey)
                let guest = try await FleetPeer.enter(room, at: fleet.members[fleet.members.count - 1].endpoint)
                try await Task.sleep(for: .milliseconds(250) * TimeAllowance.factor)
                for peer in [ada, guest] { try await peer.send() }
                try? await eventually("both ales", within: .seconds(10)) {
                    let received = (await ada.received, await guest.received)
                    return received == (1, 1)
                }
                let received = (await ada.received, await guest.received)
                outcomes.append(received == (1, 1))
                for peer in [ada, guest] { await peer.leave() }
            }
            #expect(outcomes.last == true)
        }
    }

    @Test("With --bus postgresql the bus of a single daemon is connected too")
    func loneBus() async throws {
        try await Journey.run { journey in
            var fleet = DaemonFleet()
            try await fleet.add(in: journey, ["--bus", "postgresql"])
            let metrics = try await MetricsReading.wait(at: fleet.endpoints[0]) {
                $0.samples[#"letsswitch_bus_connected{bus="postgresql"}"#] == 1
            }
            #expect(metrics.sum("letsswitch_bus_daemons") == 0)
        }
    }

    @Test("The room size limit counts the members on all daemons")
    func roomSize() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(2, in: journey, ["--room-size", "4"])
            let room = UUID()
            var peers: [FleetPeer] = []
            for number in 0..<4 {
                peers.append(try await FleetPeer.enter(room, at: fleet.endpoints[number % 2], "&presence=true"))
            }
            // Each peer has received the number of members on both daemons.
            for peer in peers { try await peer.waitForCount(4) }
            for endpoint in fleet.endpoints { #expect(try await endpoint.status(of: room) == 409) }
            await peers[0].leave()
            // Waits for all peers; otherwise the count of four received earlier would be taken for the one below.
            for peer in peers.dropFirst() { try await peer.waitForCount(3) }
            let last = try await FleetPeer.enter(room, at: fleet.endpoints[1], "&presence=true")
            for peer in peers.dropFirst() + [last] { try await peer.waitForCount(4) }
            #expect(try await fleet.endpoints[0].status(of: room) == 409)
        }
    }

    @Test("With --bus none ales stay on their daemon, and reminders still arrive")
    func noBus() async throws {
        try await Journey.run { journey in
            var fleet = DaemonFleet()
            for _ in 0..<2 { try await fleet.add(in: journey, ["--bus", "none"]) }
            for endpoint in fleet.endpoints {
                _ = try await MetricsReading.wait(at: endpoint) { $0.sum("letsswitch_bus_daemons") == 1 }
            }
            let room = UUID()
            let here = [
                try await FleetPeer.enter(room, at: fleet.endpoints[0]),
                try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true"),
            ]
            let there = try await fleet.endpoints[1].enter(room)
            try await here[0].send(20)
            try await eventually("twenty ales") { await here[1].received == 20 }
            #expect(await here[1].counts == [2])

            let start = try await journey.instant(in: 3600)
            try await fleet.endpoints[0].register("ada", start)
            let streams = try await fleet.endpoints.asyncMap { try await $0.reminders(of: "ada") }
            try await journey.advance(to: start, -60)
            let reminders = try await streams.asyncMap { try await $0.nextReminder() }
            #expect(reminders[0] == reminders[1])
            // An ale from the other daemon would have arrived by now.
            try await there.expectNothing()
            for endpoint in fleet.endpoints {
                let metrics = try await MetricsReading(endpoint)
                #expect(metrics.sum("letsswitch_bus_packets_total") == 0)
                #expect(metrics.sum("letsswitch_bus_connected") == 0)
            }
        }
    }
}
