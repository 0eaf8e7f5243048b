import Domain
import Foundation
import JourneyTestSupport
import Postgres
import TestSupport
import Testing

/// Users whose partners are absent.
@Suite struct RematchJourneyTests {
    private func enter(_ task: RegisteredTask, at endpoint: ClientEndpoint, room: UUID? = nil) async throws
        -> WebSocketTestClient
    {
        let target = "\(ClientEndpoint.room(room ?? task.socketId))&taskId=\(task.id.uuidString)"
        let peer = try await WebSocketTestClient.connect(to: endpoint, target)
        guard try await peer.nextMessage() == RoomMessages.handshake else {
            throw ClientFailure.violation("no handshake message")
        }
        return peer
    }

    private func nextJSON(of peer: WebSocketTestClient) async throws -> TestJSON {
        guard case .binary(let bytes) = try await peer.nextMessage() else {
            throw ClientFailure.violation("a message that isn't binary")
        }
        return try TestJSON(parsing: bytes)
    }

    @Test(
        "Two users whose partners are absent are matched across two daemons"
    )
    func rematched() async throws {
        try await Journey.run { journey in
            let daemons = [try await journey.daemon(), try await journey.daemon()]
            let start = try await journey.instant(in: 3600)
            let ada = try await daemons[0].register("ada", start, "History")
            let bob = try await daemons[0].register("bob", start, "Maths")
            let cem = try await daemons[1].register("cem", start, "Latin")
            _ = try await daemons[1].register("dan", start, "Art")
            try await journey.advance(to: start, -59)
            let streams = [try await daemons[0].reminders(of: "ada"), try await daemons[1].reminders(of: "bob")]
            for stream in streams { _ = try await stream.nextReminder() }
            let peers = [
                try await enter(ada, at: daemons[0]), try await enter(cem, at: daemons[1]),
            ]
            try await eventually("it is written who came") {
                try await journey.client.query(
                    .init(name: "", sql: "SELECT FROM core.attendance WHERE present > 0"), [], timeout: nil
                ).count == 2
            }
            try await journey.advance(to: start, 61)
            let rematch = try await nextJSON(of: peers[0])
            #expect(rematch["type"] == "rematched" && rematch["taskId"].string == ada.id.uuidString)
            #expect(rematch["partnerTask"] == "Latin")
            let room = try #require(rematch["roomId"].string.flatMap(UUID.init(uuidString:)))
            let other = try await nextJSON(of: peers[1])
            #expect(other["partnerTask"] == "History" && other["roomId"].string == room.uuidString)
            for peer in peers { try await peer.expectClose(1000) }
            let event = try await streams[0].next("rematched")
            #expect(event["roomId"].string == room.uuidString && event["partnerTask"] == "Latin")
            for daemon in daemons { #expect(try await daemon.status(of: ada.socketId) == 404) }
            // Both enter on one daemon. On two daemons an ale isn't forwarded until the sender's daemon knows of the
            // other's member.
            let again = [
                try await enter(ada, at: daemons[0], room: room), try await enter(cem, at: daemons[0], room: room),
            ]
            try await again[0].send(text: RoomMessages.ale(room))
            #expect(try await again[1].nextMessage() == RoomMessages.cheer)

            let late = try await streams[1].next("rematched")
            #expect(late["taskId"].string == bob.id.uuidString && late["partnerTask"].isAbsent)
            let own = try #require(late["roomId"].string.flatMap(UUID.init(uuidString:)))
            let waiting = try await enter(bob, at: daemons[1], room: own)
            try await eventually("somebody waits") {
                try await daemons[0].post("/task", ClientEndpoint.task("eva", start, "Music")).status == 201
            }
            #expect(try await daemons[0].register("eva", start, "Music").socketId == own)
            for peer in again + [waiting] { await peer.close() }
        }
    }
}

extension EventStreamTestClient {
    /// Returns the next event of this type. Skips other events.
    fileprivate func next(_ type: String) async throws -> TestJSON {
        while true {
            let event = try await nextEvent()
            if event.event == type { return try TestJSON(parsing: Array(event.data.utf8)) }
        }
    }
}
