import Domain
import Foundation
import JourneyTestSupport
import Settings
import TestSupport
import Testing

@testable import Control

/// `letsswitchd daemons` and the other commands that inspect the database.
@Suite struct InspectionTests {
    /// Returns the objects that the command prints into a pipe.
    private func lines(_ inspection: Inspection, _ journey: Journey) async throws -> [TestJSON] {
        let command = try await DaemonProcess.start([inspection.rawValue, "--database-url", journey.conninfo])
        #expect(try await command.waitForExit() == .exited(0), "\(command.output)")
        return try command.process.text(of: .output).split(separator: "\n").map {
            try TestJSON(parsing: Array($0.utf8))
        }
    }

    @Test("The output has only counts")
    func journey() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 1_800)
            let room = try await endpoint.pair("ada", "bob", start)
            try await endpoint.register("eve", try await journey.instant(in: 7_200))
            #expect(
                try await lines(.due, journey) == [
                    [
                        "reminds": .string("\(Instant(seconds: start.seconds - 60))"), "starts": .string("\(start)"),
                        "tasks": 2, "paired": 2, "failed": 0,
                    ]
                ])
            #expect(try await lines(.daemons, journey).map { $0["bus"].string }.count == 1)
            #expect(try await lines(.rooms, journey) == [])
            try await journey.advance(to: start, -30)
            try await journey.wait(until: "SELECT count(*) = 0 FROM schedule.due WHERE starts_at = '\(start)'")
            let (first, second) = (try await endpoint.enter(room), try await endpoint.enter(room))
            try await eventually("the room") {
                let rooms = try await lines(.rooms, journey)
                return rooms.map { $0["room"].string } == [room.uuidString]
                    && rooms.first?["connections"] == 2 && rooms.first?["starts"].string == "\(start)"
            }
            await first.close()
            await second.close()

            let session = try await endpoint.post("/questions/sessions", ["deviceId": "ada", "title": "Secret"])
            #expect(session.status == 201)
            for (device, name) in [("ada", "user1"), ("bob", "user2")] {
                _ = try await endpoint.post("/users", ["deviceId": .string(device), "name": .string(name)])
            }
            _ = try await endpoint.post("/messages", ["deviceId": "ada", "content": "Secret", "routingKey": "user2"])
            let sessions = try await lines(.sessions, journey)
            #expect(sessions.map { $0["questions"] } == [0] && sessions.map { $0["state"] } == ["open"])
            let conversations = try await lines(.conversations, journey)
            #expect(conversations.map { $0["messages"] } == [1] && conversations.map { $0["members"] } == [2])
            #expect(!"\(sessions)\(conversations)".contains("Secret"))
            #expect(try await lines(.deliveries, journey) == [])
        }
    }

    @Test("The default output is a table") func table() {
        let columns: [InspectionQuery.Column] = [.text("channel"), .number("waiting"), .text("next")]
        let table = InspectionCommand.table(columns, [["apns", "7", "soon"], ["webpush", "1200", nil]])
        #expect(table == "channel  waiting  next\napns           7  soon\nwebpush     1200  -\n")
        #expect(InspectionCommand.line(columns, ["apns", "7", nil]) == #"{"channel":"apns","waiting":7}"# + "\n")
    }

    @Test("If no daemon runs, the command reports that") func nobody() async throws {
        let directory = TestClusterDirectories.shared.make()
        let command = try await DaemonProcess.start(["due", "--state-dir", directory])
        #expect(try await command.waitForExit() == .exited(1))
        #expect(command.output == "letsswitchd: no daemon is running with the state directory \(directory)")
    }
}
