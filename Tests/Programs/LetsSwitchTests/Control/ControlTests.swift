import Domain
import Foundation
import Glibc
import JourneyTestSupport
import TestSupport
import Testing

@testable import Control
@testable import Settings

/// The commands `letsswitchd connections`, `close`, `kick` and `drain`, and the socket over which they reach a daemon.
@Suite struct ControlTests {
    @Test("Connections are closed by number, device and address")
    func connectionsAndKick() async throws {
        try await ControlledDaemon.run(["--open-rooms"]) { control in
            let ada = "ada-7c1f-secret"
            let room = UUID()
            let stream = try await control.endpoint.reminders(of: ada)
            let cable = try await CablePeer.welcomed(at: control.endpoint, "?deviceId=\(ada)")
            let peers = [try await control.endpoint.enter(room), try await control.endpoint.enter(room)]
            let rows = try await control.rows(["connections"])
            #expect(
                Set(rows.map { "\($0["kind"].string ?? "") \($0["purpose"].string ?? "")" })
                    == ["stream reminders", "websocket cable", "websocket room"])
            #expect(rows.count == 4 && rows.allSatisfy { $0["address"] == "127.0.0.1" && $0["unsent"] == 0 })
            let inRoom = rows.filter { $0["place"].string == room.uuidString }
            #expect(inRoom.count == 2)
            let tags = Set(rows.compactMap { $0["device"].string })
            #expect(tags.count == 1 && !"\(rows)".contains("secret"))

            let first = try #require(inRoom.first?["connection"].int)
            #expect(try await control.rows(["kick", "\(first)"]).map { $0["connection"].int } == [first])
            try await eventually("the room to have one peer") {
                try await control.rows(["connections"]).count { $0["place"].string == room.uuidString } == 1
            }
            let again = try await control.command(["kick", "\(first)"])
            #expect(again.status == .exited(1) && again.errors.contains("no connection has this number"))

            #expect(try await control.rows(["kick", ada]).count == 2)
            try await stream.expectEnd()
            #expect(try await cable.receive() == CablePeer.disconnect("remote"))
            let other = try await control.endpoint.reminders(of: ada)
            #expect(try await control.rows(["kick", try #require(tags.first)]).count == 1)
            try await other.expectEnd()

            #expect(try await control.rows(["kick", "127.0.0.1"]).count >= 1)
            for peer in peers { #expect(try await peer.expectClose(1008) == "an operator closed this connection") }

            let done = try await control.daemon.waitForLog("operator's command ended") { $0["command"] == "kick" }
            #expect(done["uid"].int == Int(getuid()) && done["outcome"] == "done" && done["count"] == 1)
            try await control.daemon.waitForLog("operator's command ended") {
                $0["command"] == "kick" && $0["outcome"].string?.contains("no connection has") == true
            }
            #expect(!control.daemon.output.contains("secret"))
        }
    }

    @Test("All connections of a device are closed on every daemon")
    func kickEverywhere() async throws {
        try await ControlledDaemon.run { control in
            let room = try await SharedRoom(control)
            let (other, ada, bob) = (room.other, room.ada, room.bob)
            let here = try await room.enter(ada.id, at: control.endpoint)
            let there = try await room.enter(ada.id, at: other)
            let partner = try await room.enter(bob.id, at: control.endpoint)
            let stream = try await other.reminders(of: "ada")
            // Waits until the daemons know of each other.
            try await eventually("two daemons") {
                try await MetricsReading(control.endpoint).sum("letsswitch_bus_daemons") == 1
            }

            func inRoom() async throws -> Int {
                try await control.rows(["connections"]).count { $0["kind"] == "websocket" }
            }
            try await eventually("two in the room") { try await inRoom() == 2 }
            let shown = try await control.command(["connections"])
            #expect(shown.errors.contains("; other daemons on the database: 1"), "\(shown.errors)")

            let kicked = try await control.command(["kick", "ada"])
            #expect(kicked.status == .exited(0) && kicked.output.split(separator: "\n").count == 1)
            #expect(kicked.errors.contains("other daemons that were asked to do the same, and don't report back: 1"))
            for peer in [here, there] {
                #expect(try await peer.expectClose(1008) == "an operator closed this connection")
            }
            try await stream.expectEnd()
            // No other device was disconnected, and Ada may connect again.
            try await eventually("one in the room") { try await inRoom() == 1 }
            _ = try await room.enter(ada.id, at: other)
            #expect(try await control.rows(["kick", "bob"]).count == 1)
            #expect(try await partner.expectClose(1008) == "an operator closed this connection")
        }
    }

    @Test("A room is closed early on every daemon")
    func closeRoom() async throws {
        try await ControlledDaemon.run { control in
            let other = try await control.journey.daemon()
            let start = try await control.journey.instant(in: 1_800)
            let room = try await control.endpoint.pair("ada", "bob", start)
            let early = try await control.command(["close", room.uuidString])
            #expect(early.status == .exited(1) && early.errors == "letsswitchd: the room isn't open yet")
            try await control.journey.advance(to: start, -30)
            try await eventually("the room to open") { try await control.endpoint.status(of: room) == 101 }
            let here = try await control.endpoint.enter(room)
            let there = try await other.enter(room)
            let rows = try await control.rows(["close", room.uuidString])
            #expect(rows == [["room": .string(room.uuidString), "connections": 1]])
            for peer in [here, there] { #expect(try await peer.expectClose(1000) == "the room has closed") }
            #expect(try await control.endpoint.status(of: room) == 410)
            #expect(try await other.status(of: room) == 410)
            #expect(try await control.command(["close", room.uuidString]).errors == "letsswitchd: the room has closed")
            let none = try await control.command(["close", UUID().uuidString])
            #expect(none.status == .exited(1))
            #expect(none.errors.hasPrefix("letsswitchd: there is no such room, and it has no members on this daemon"))
        }
    }

    @Test("A drain closes connections at its rate and can be watched")
    func drain() async throws {
        try await ControlledDaemon.run(["--open-rooms", "--operations-listen", "127.0.0.1:0"]) { control in
            let operations = try await control.daemon.nextListening()
            let room = UUID()
            var peers: [WebSocketTestClient] = []
            for _ in 0..<5 { peers.append(try await control.endpoint.enter(room)) }
            let listening = peers
            async let drained = control.rows(["drain", "--rate", "2"])
            for peer in listening {
                #expect(try await peer.expectClose(1001, passingOver: true) == "the server is stopping")
            }
            let left = try await drained.compactMap { $0["left"].int }
            #expect(left.first == 5 && left.last == 0 && left == left.sorted(by: >) && left.count >= 3)
            await #expect(throws: ClientFailure.self) { try await control.endpoint.get("/healthz") }
            let ready = try await operations.get("/readyz")
            #expect(ready.status == 503)
            #expect(try ready.json()["draining"] == true)
            #expect(try await control.rows(["drain"]).map { $0["left"] } == [0])
            #expect(try await control.daemon.terminate() == .exited(0))
        }
    }

    @Test("A second drain replaces the first")
    func drainAgain() async throws {
        try await ControlledDaemon.run(["--open-rooms", "--operations-listen", "127.0.0.1:0"]) { control in
            let operations = try await control.daemon.nextListening()
            let room = UUID()
            var peers: [WebSocketTestClient] = []
            for _ in 0..<100 { peers.append(try await control.endpoint.enter(room)) }
            async let slow = control.command(["drain", "--rate", "1"])
            try await eventually("the drain") { try await operations.get("/readyz").json()["draining"] == true }
            let fast = try await control.command(["drain", "--rate", "1000"])
            #expect(fast.status == .exited(0))
            #expect(fast.errors == "letsswitchd: this replaces a drain at 1 connections per second")
            let first = try await slow
            #expect(first.status == .exited(1))
            #expect(first.errors == "letsswitchd: another drain command has replaced this one")
            for peer in peers {
                #expect(try await peer.expectClose(1001, passingOver: true) == "the server is stopping")
            }
            #expect(try await control.command(["drain"]).errors.isEmpty)
        }
    }

    @Test("Output that can't be written is reported after the command has finished", arguments: [true, false])
    func unwritten(isTable: Bool) async throws {
        try await ControlledDaemon.run { control in
            let stream = try await control.endpoint.reminders(of: "ada")
            var shown = 0
            #expect {
                try ControlCommand(.drain(perSecond: 1), socket: control.socket).run(isTable ? .table : .lines) { _ in
                    shown += 1
                    return false
                }
            } throws: { error in
                "\(error)" == "the output can't be written"
            }
            #expect(shown == 1)
            try await stream.expectEnd()
        }
    }

    @Test("The default output is a table and sentences")
    func table() async throws {
        try await ControlledDaemon.run(["--open-rooms"]) { control in
            let stream = try await control.endpoint.reminders(of: "ada")
            func shown(_ order: ControlOrder) throws -> String {
                var text = ""
                try ControlCommand(order, socket: control.socket).run(.table) {
                    text += $0
                    return true
                }
                return text
            }
            let lines = try shown(.connections).split(separator: "\n")
            #expect(lines.count == 2)
            let columns = try #require(lines.first).split(separator: " ")
            #expect(columns == ["connection", "kind", "purpose", "address", "device", "place", "unsent"])
            #expect(try #require(lines.last).contains("stream  reminders  127.0.0.1"))
            let room = UUID()
            let peer = try await control.endpoint.enter(room)
            #expect(try shown(.close(room)) == "closed; connections on this daemon that were in it: 1\n")
            #expect(try await peer.expectClose(1000) == "the room has closed")
            #expect(try shown(.drain(perSecond: 10)).hasSuffix("\nconnections left: 0\n"))
            try await stream.expectEnd()
        }
    }
}
