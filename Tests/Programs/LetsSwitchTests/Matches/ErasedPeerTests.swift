import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// A user whose data is erased leaves every match's room.
@Suite struct ErasedPeerTests {
    private static let reason = "the device's data was erased"

    @Test("An erased user is removed from the room on all daemons")
    func everywhere() async throws {
        try await Journey.run { journey in
            let (here, there) = (try await journey.daemon(), try await journey.daemon())
            let start = try await journey.instant(in: 1_800)
            let ada = try await here.register("ada", start)
            let bob = try await here.register("bob", start)
            try await journey.advance(to: start, -30)
            func enter(_ endpoint: ClientEndpoint, _ query: String) async throws -> WebSocketTestClient {
                try await eventually("the room to open") { try await endpoint.status(of: bob.socketId) == 101 }
                let peer = try await WebSocketTestClient.connect(
                    to: endpoint, ClientEndpoint.room(bob.socketId) + query)
                #expect(try await peer.nextMessage() == RoomMessages.handshake)
                return peer
            }
            var hers: [WebSocketTestClient] = []
            for endpoint in [here, there] {
                hers.append(try await enter(endpoint, "&taskId=\(ada.id.uuidString)"))
                hers.append(try await enter(endpoint, "&presence=true&deviceId=ada"))
            }
            let his = try await enter(there, "&taskId=\(bob.id.uuidString)")
            let cable = try await CablePeer.welcomed(at: there)
            let identifier = CablePeer.room(bob.socketId, #","taskId":"\#(ada.id.uuidString)""#)
            try await cable.enter(identifier)
            // Waits until the attendance of Ada's task is stored, because a row that is written during the erasure may
            // remain.
            try await journey.wait(
                until: "EXISTS (SELECT FROM core.attendance WHERE task_id = '\(ada.id)' AND present = 3)")
            #expect(try await HTTPTestClient.request(at: here, "DELETE", "/device?deviceId=ada").status == 200)
            for peer in hers { #expect(try await peer.expectClose(1000, passingOver: true) == Self.reason) }
            #expect(try await cable.receive() == CablePeer.rejection(identifier))
            try await his.closeHandshake()
            // Attendance is written in order. Ada's row would therefore be stored before this one.
            try await journey.wait(
                until: "EXISTS (SELECT FROM core.attendance WHERE task_id = '\(bob.id)' AND present = 0)")
            #expect(try await journey.count("core.attendance WHERE task_id = '\(ada.id)'") == 0)
        }
    }
}
