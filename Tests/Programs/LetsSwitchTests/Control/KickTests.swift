import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

@testable import Control
@testable import Settings

/// `letsswitchd kick` by the tag that the log shows for a device. Each daemon has its own tags.
@Suite struct KickTests {
    @Test("A message to the other daemons is read as it was written")
    func notices() throws {
        let key = DeviceTag.Key.own
        for target in [
            KickTarget.named("192.0.2.1"), .named("a b/c"), .device(DeviceID(stored: "192.0.2.1")),
            .tagged(DeviceTag("ada"), key),
        ] {
            let notice = KickNotice(from: "D1", target)
            let read = try #require(KickNotice(payload: notice.payload))
            #expect(read.daemon == "D1" && "\(read.target)" == "\(target)")
        }
        #expect(KickNotice(from: "D1", .named("ada")).payload == "D1 ada")
        for payload in ["", "D1", "/ ada", "D1/ ", "D1/else ada", "D1/\(key) ada", "D1/0f \(DeviceTag("ada"))"] {
            #expect(KickNotice(payload: payload) == nil, "\(payload)")
        }
    }

    @Test("A device is closed on all daemons by the tag that one daemon's log shows")
    func byTag() async throws {
        try await ControlledDaemon.run { control in
            let room = try await SharedRoom(control)
            let (other, ada, bob) = (room.other, room.ada, room.bob)
            try await eventually("two daemons") {
                try await MetricsReading(control.endpoint).sum("letsswitch_bus_daemons") == 1
            }
            let bobInRoom = try await room.enter(bob.id, at: other)
            let bobsStream = try await other.reminders(of: "bob")

            // Ada is connected to this daemon, which knows her device by this tag, and to the other.
            let here = try await control.endpoint.reminders(of: "ada")
            let there = try await other.reminders(of: "ada")
            let inRoom = try await room.enter(ada.id, at: other)
            let tag = try #require(try await control.rows(["connections"]).compactMap { $0["device"].string }.first)
            #expect(try await control.rows(["kick", tag]).count == 1)
            try await here.expectEnd()
            try await there.expectEnd()
            #expect(try await inRoom.expectClose(1008) == "an operator closed this connection")

            // Ada's stream is now on the other daemon, which has a different tag for her device. Only her room socket
            // is on this daemon.
            let gone = try await other.reminders(of: "ada")
            let stays = try await room.enter(ada.id, at: control.endpoint)
            let first = try await control.command(["kick", tag])
            #expect(first.status == .exited(0))
            try await gone.expectEnd()
            #expect(try await stays.expectClose(1008) == "an operator closed this connection")

            // Ada's only connection is a room socket on the other daemon.
            let last = try await room.enter(ada.id, at: other)
            #expect(try await control.command(["kick", tag]).status == .exited(0))
            #expect(try await last.expectClose(1008) == "an operator closed this connection")

            // No other device was disconnected.
            try await eventually("one in the room") {
                try await MetricsReading(other).sum("letsswitch_room_members") == 1
            }
            let names = try await control.rows(["kick", "bob"])
            #expect(names.isEmpty)
            #expect(try await bobInRoom.expectClose(1008) == "an operator closed this connection")
            try await bobsStream.expectEnd()
        }
    }
}
