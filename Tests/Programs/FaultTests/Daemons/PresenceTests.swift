import Foundation
import Glibc
import JourneyTestSupport
import TestSupport
import Testing

/// The members of a room on two daemons, reported to the members that asked for presence.
@Suite struct PresenceTests {
    private static func task() -> String { "&taskId=\(UUID().uuidString)" }

    @Test(
        "Only clients that asked for presence receive changes of the member count"
    )
    func counts() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(2, in: journey, ["--presence-grace", "300s"])
            let room = UUID()
            let ada = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true")
            try await ada.waitForCount(1)
            let silent = try await FleetPeer.enter(room, at: fleet.endpoints[1])
            try await ada.waitForCount(2)
            let bob = try await FleetPeer.enter(room, at: fleet.endpoints[1], "&presence=true" + Self.task())
            for peer in [ada, bob] { try await peer.waitForCount(3) }
            // Without a task there is no grace period.
            let passer = try await FleetPeer.enter(room, at: fleet.endpoints[1])
            for peer in [ada, bob] { try await peer.waitForCount(4) }
            await passer.leave()
            for peer in [ada, bob] { try await peer.waitForCount(3) }
            try await bob.send(3)
            for peer in [ada, silent] { try await eventually("three ales") { await peer.received == 3 } }
            for peer in [ada, silent, bob] { #expect(await peer.objections == []) }
            #expect(await silent.counts == [])
        }
    }

    @Test("A device that returns within the grace period never left")
    func grace() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(2, in: journey, ["--presence-grace", "300s"])
            let room = UUID()
            let ada = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true")
            try await ada.waitForCount(1)
            let task = Self.task()
            let bob = try await FleetPeer.enter(room, at: fleet.endpoints[1], task)
            try await ada.waitForCount(2)
            // The same person connects to both daemons, and then all of the person's connections end.
            let again = [
                try await FleetPeer.enter(room, at: fleet.endpoints[0], task),
                try await FleetPeer.enter(room, at: fleet.endpoints[1], task),
            ]
            for peer in [bob] + again { await peer.leave() }
            let back = try await FleetPeer.enter(room, at: fleet.endpoints[0], task)
            let carl = try await FleetPeer.enter(room, at: fleet.endpoints[1], Self.task())
            try await ada.waitForCount(3)
            #expect(await ada.counts == [1, 2, 3])
            #expect(await back.isConnected)
            #expect(await carl.isConnected)
        }
    }

    @Test("A device is one person over /socket and /cable on every daemon")
    func devices() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(2, in: journey, ["--presence-grace", "300s"])
            let room = UUID()
            let watcher = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true")
            try await watcher.waitForCount(1)
            let query = "&presence=true&deviceId=ada"
            let ada = try await WebSocketTestClient.connect(to: fleet.endpoints[0], ClientEndpoint.room(room) + query)
            #expect(try await ada.nextMessage() == RoomMessages.handshake)
            // A device without a task has no partner, so the message doesn't mention one.
            #expect(
                try await ada.nextMessage() == .binary(Array(#"{"type":"presence","data":{"count":2}}"#.utf8)))
            try await watcher.waitForCount(2)
            let again = try await FleetPeer.enter(room, at: fleet.endpoints[1], query)
            try await again.waitForCount(2)
            let identifier = CablePeer.room(room, #","presence":true"#)
            let cable = try await CablePeer.welcomed(at: fleet.endpoints[1], "?deviceId=ada")
            try await cable.enter(identifier)
            #expect(try await cable.receiveMessage(of: identifier).data == ["count": 2])
            await again.leave()
            await ada.close()
            await cable.socket.close()
            // A task takes precedence over a device, and a client that doesn't ask counts as a connection.
            let carl = try await FleetPeer.enter(room, at: fleet.endpoints[0], query + Self.task())
            try await watcher.waitForCount(3)
            let silent = try await FleetPeer.enter(room, at: fleet.endpoints[1], "&deviceId=ada")
            try await watcher.waitForCount(4)
            // An empty device name is no device.
            let nameless = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true&deviceId=")
            try await watcher.waitForCount(5)
            #expect(await watcher.counts == [1, 2, 3, 4, 5])
            for peer in [carl, silent, nameless] { #expect(await peer.isConnected) }
        }
    }

    @Test("A device that doesn't return within the grace period has left, on every daemon")
    func graceEnds() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(2, in: journey, ["--presence-grace", "1s"])
            let room = UUID()
            let watchers = try await fleet.endpoints.asyncMap { endpoint in
                try await FleetPeer.enter(room, at: endpoint, "&presence=true")
            }
            let bob = try await FleetPeer.enter(room, at: fleet.endpoints[1], Self.task())
            for watcher in watchers { try await watcher.waitForCount(3) }
            // Read before the event that begins the grace: a busy machine makes the interval longer, never shorter.
            let before = ContinuousClock.now
            await bob.leave()
            for watcher in watchers { try await watcher.waitForCount(2) }
            #expect(ContinuousClock.now - before >= .milliseconds(900))
        }
    }

    @Test("All members of a question session receive the number of people")
    func questions() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(2, in: journey, ["--presence-grace", "1s"])
            let here = try await TestSession.make(at: fleet.endpoints[0])
            let there = here.at(fleet.endpoints[1])
            let presenter = try await here.join("speaker", isLive: true, asPresenter: true)
            try await presenter.waitForCount(1)
            // A device counts once, however often it connects. A client that only receives counts too, and gets no
            // presence.
            let (ada, again) = (try await here.join("ada", isLive: true), try await there.join("ada", isLive: true))
            let (quiet, nobody) = (try await there.join("bob"), try await there.join())
            let identifier = #"{"channel":"QuestionsChannel","session":"\#(there.id)","presence":true}"#
            let cable = try await CablePeer.welcomed(at: there.endpoint, "?deviceId=carl")
            try await cable.enter(identifier)
            for peer in [presenter, ada, again] { try await peer.waitForCount(5) }
            while true {
                let message = try await cable.receiveMessage(of: identifier)
                if message.type == "presence", message.data == ["count": 5] { break }
            }
            for peer in [quiet, nobody] { try await peer.socket.expectNothing() }
            await nobody.socket.close()
            for peer in [presenter, ada, again] { try await peer.waitForCount(4) }
            await ada.socket.close()
            try await cable.unsubscribe(identifier)
            // The device is still there by its other socket, when the grace is over.
            for peer in [presenter, again] { try await peer.waitForCount(3) }
            await again.socket.close()
            try await presenter.waitForCount(2)
        }
    }

    @Test("SIGTERM of a daemon reports no departure of people who reconnect")
    func drain() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(2, in: journey, ["--presence-grace", "300s"])
            let room = UUID()
            let ada = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true")
            let tasks = (0..<5).map { _ in Self.task() }
            let guests = try await tasks.asyncMap { try await FleetPeer.enter(room, at: fleet.endpoints[1], $0) }
            try await ada.waitForCount(6)
            let before = await ada.counts
            await fleet[1].process.signal(SIGTERM)
            for guest in guests {
                try await eventually("a close frame") { await !guest.isConnected }
                #expect(await guest.close?.code == 1001)
            }
            let back = try await tasks.asyncMap { try await FleetPeer.enter(room, at: fleet.endpoints[0], $0) }
            #expect(try await fleet[1].process.waitForExit() == .exited(0))
            try await DaemonFleet.wait(at: fleet.endpoints[0], others: 0)
            let carl = try await FleetPeer.enter(room, at: fleet.endpoints[0], Self.task())
            try await ada.waitForCount(7)
            #expect(await ada.counts == before + [7])
            try await carl.send()
            for peer in back { try await eventually("an ale") { await peer.received == 1 } }
        }
    }

    @Test("The webhook's counts of joins and leaves include all daemons and have no grace period")
    func webhook() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                let fleet = try await DaemonFleet.start(
                    2, in: journey,
                    [
                        "--webhook-url", recorder.url("/hook"), "--webhook-secret",
                        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "--presence-grace", "300s",
                    ])
                func expect(_ event: String, peers: Int) async throws {
                    try await recorder.requests.next("\(event) with \(peers)") { asked in
                        guard let json = try? asked.json() else { return false }
                        return json["type"].string == event && json["data"]["peers"].int == peers
                    }
                }
                let streams = try await fleet.endpoints.asyncMap { try await $0.reminders(of: "ada") }
                let start = try await journey.instant(in: 3600)
                let room = try await fleet.endpoints[0].pair("ada", "bob", start)
                try await journey.advance(to: start, -59)
                // Each daemon sends the reminder after it has opened the room.
                for stream in streams { #expect(try await stream.nextReminder().roomId == room) }
                let ada = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true")
                try await expect("room.joined", peers: 1)
                let bob = try await FleetPeer.enter(room, at: fleet.endpoints[1], "&presence=true")
                for peer in [ada, bob] { try await peer.waitForCount(2) }
                let guest = try await FleetPeer.enter(room, at: fleet.endpoints[0])
                try await expect("room.joined", peers: 3)
                // Waits until Ada has received the count of three. Otherwise earlier counts would be taken for those
                // below.
                try await ada.waitForCount(3)
                // The rows name the daemon of each connection, so that another daemon can remove them if it dies.
                try await journey.wait(
                    until: """
                        (SELECT array_agg(connections ORDER BY connections) = '{1,2}'
                        FROM core.presence JOIN core.daemon ON daemon.id = reporter_id)
                        """)
                await guest.leave()
                try await expect("room.left", peers: 2)
                try await ada.waitForCount(2)
                // A member with a task may return within the grace period, as far as the other members know.
                let carl = try await FleetPeer.enter(room, at: fleet.endpoints[1], Self.task())
                try await expect("room.joined", peers: 3)
                try await ada.waitForCount(3)
                await carl.leave()
                try await expect("room.left", peers: 2)
                #expect(await ada.counts.last == 3)
                await bob.leave()
                try await expect("room.left", peers: 1)
            }
        }
    }

    @Test("The webhook gets room.left for each member of a killed daemon")
    func webhookAfterKill() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                let fleet = try await DaemonFleet.start(
                    2, in: journey,
                    [
                        "--webhook-url", recorder.url("/hook"), "--webhook-secret",
                        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                    ])
                func expect(_ event: String, of task: RegisteredTask, peers: Int) async throws {
                    try await recorder.requests.next("\(event) of \(task.title) with \(peers)") { asked in
                        guard let json = try? asked.json(), json["type"].string == event else { return false }
                        return json["data"]["taskId"].string == task.id.uuidString && json["data"]["peers"].int == peers
                    }
                }
                let streams = try await fleet.endpoints.asyncMap { try await $0.reminders(of: "ada") }
                let start = try await journey.instant(in: 3600)
                let ada = try await fleet.endpoints[0].register("ada", start)
                let bob = try await fleet.endpoints[1].register("bob", start, "Maths")
                try await journey.advance(to: start, -59)
                for stream in streams { _ = try await stream.nextReminder() }
                let room = ada.socketId
                let member = try await FleetPeer.enter(room, at: fleet.endpoints[0], "&taskId=\(ada.id.uuidString)")
                try await expect("room.joined", of: ada, peers: 1)
                let killed = try await FleetPeer.enter(room, at: fleet.endpoints[1], "&taskId=\(bob.id.uuidString)")
                try await expect("room.joined", of: bob, peers: 2)
                await fleet[1].process.signal(SIGKILL)
                try await expect("room.left", of: bob, peers: 1)
                await member.leave()
                try await expect("room.left", of: ada, peers: 0)
                await killed.leave()
            }
        }
    }
}
