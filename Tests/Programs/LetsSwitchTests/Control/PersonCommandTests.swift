import Domain
import Features
import Foundation
import JourneyTestSupport
import Postgres
import TestSupport
import Testing

@testable import Schema

/// `letsswitchd remind`, `export` and `erase`: the operators' commands for one device.
@Suite struct PersonCommandTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test("A test reminder reports the result of each configured provider")
    func remind() async throws {
        try await HTTPRecorder.run { recorder in
            let flags = [
                "--webhook-url", recorder.url("/hook"), "--webhook-secret", Self.secret, "--ntfy-server",
                recorder.url(),
            ]
            try await ControlledDaemon.run(flags) { control in
                let endpoint = control.endpoint
                #expect(try await endpoint.post("/ntfy", ["deviceId": "ada"]).status == 200)
                let token: TestJSON = ["deviceId": "ada", "token": "abadcafe", "debug": true]
                #expect(try await endpoint.post("/token", token).status == 200)
                let stream = try await endpoint.reminders(of: "ada")
                let cable = try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
                let identifier = #"{"channel":"RemindersChannel"}"#
                try await cable.socket.send(json: ["command": "subscribe", "identifier": .string(identifier)])
                #expect(try await cable.receive().contains("confirm_subscription"))
                let other = try await endpoint.reminders(of: "bob")

                let rows = try await control.rows(["remind", "ada"])
                #expect(rows.first == ["channel": "stream", "outcome": "sent", "count": 2])
                #expect(
                    Set(rows.dropFirst().map { "\($0["channel"].string ?? "") \($0["outcome"].string ?? "")" })
                        == ["apns off", "ntfy accepted", "webhook accepted"])
                let event = try await stream.nextEvent()
                #expect(event.event == "reminder")
                let data = try event.json()
                #expect(data["test"] == true && data["type"] == "reminder")
                #expect(try await cable.receiveMessage(of: identifier).data["id"] == data["id"])
                let hook = try await recorder.requests.next("the webhook") { $0.target == "/hook" }
                #expect(try hook.json()["data"] == data)

                // A reminder that fires after the test reminder is delivered as usual.
                let start = try await control.journey.instant(in: 3_600)
                let task = try await endpoint.register("ada", start)
                _ = try await endpoint.register("bob", start)
                try await control.journey.advance(to: start, -59)
                #expect(try await stream.nextReminder().taskId == task.id)
                // Other devices didn't receive the test reminder.
                let next = try await other.nextReminder()
                #expect(next.taskId != task.id)
                #expect(try await control.rows(["remind", "eve"]).first?["outcome"] == "no stream on this daemon")
                try await control.daemon.waitForLog("operator's command ended") { $0["command"] == "remind" }
                #expect(!control.daemon.output.contains("abadcafe"))
            }
        }
    }

    @Test("An export has exactly the rows of its device, and an erasure removes them")
    func exportAndErase() async throws {
        try await ControlledDaemon.run { control in
            let endpoint = control.endpoint
            let start = try await control.journey.instant(in: 3_600)
            try await endpoint.register("device-of-ada", start, "History")
            try await endpoint.register("device-of-bob", start, "Maths")
            #expect(try await endpoint.post("/calendar", ["deviceId": "device-of-ada"]).status == 200)
            for (device, name) in [("device-of-ada", "ada"), ("device-of-bob", "bob")] {
                let user: TestJSON = ["deviceId": .string(device), "name": .string(name)]
                #expect(try await endpoint.post("/users", user).status == 201)
            }
            for (device, name) in [("device-of-ada", "ada"), ("device-of-bob", "bob")] {
                let message: TestJSON = [
                    "deviceId": .string(device), "content": .string("said by \(name)"),
                    "routingKey": .string(name == "ada" ? "bob" : "ada"),
                ]
                #expect(try await endpoint.post("/messages", message).status == 201)
            }
            let conversations = try await endpoint.get("/conversations?deviceId=device-of-ada").json()["conversations"]
            let last = conversations[0]["lastMessage"]
            let reactions =
                "/conversations/\(last["conversation"].string ?? "")/messages/\(last["id"].string ?? "")/reactions"
            for (device, emoji) in [("device-of-ada", "🎉"), ("device-of-bob", "👍")] {
                let reaction: TestJSON = ["deviceId": .string(device), "emoji": .string(emoji)]
                #expect(try await endpoint.post(reactions, reaction).status == 201)
            }
            let block: TestJSON = ["deviceId": "device-of-ada", "name": "bob"]
            #expect(try await endpoint.post("/blocks", block).status < 300)
            let own = try await endpoint.register("device-of-ada", start, "History")
            let preference: TestJSON = ["deviceId": "device-of-ada", "taskId": .string(own.id.uuidString)]
            #expect(try await endpoint.post("/preferences", preference).status == 201)
            let session: TestJSON = ["deviceId": "device-of-ada", "title": "Talk"]
            #expect(try await endpoint.post("/questions/sessions", session).status == 201)

            let rows = try await control.rows(["export", "device-of-ada"])
            let stored = Dictionary(grouping: rows) { $0["kind"].string ?? "" }.mapValues { $0.map { $0["stored"] } }
            #expect(rows.first?["kind"] == "device" && stored["device"]?.first?["deviceId"] == "device-of-ada")
            #expect(stored["tasks"]?.map { $0["title"] } == ["History"] && stored["due"]?.count == 1)
            #expect(stored["names"]?.map { $0["name"] } == ["ada"])
            #expect(stored["messages"]?.map { $0["content"] } == ["said by ada"])
            #expect(stored["reactions"]?.map { $0["emoji"] } == ["🎉"])
            #expect(stored["conversations"]?.count == 1 && stored["sessions"]?.map { $0["title"] } == ["Talk"])
            #expect(stored["blocks"]?.map { $0["name"] } == ["bob"])
            #expect(stored["preferences"]?.map { $0["title"] } == ["Maths"])
            #expect(stored["calendar"]?.first?["secret"].string != nil)
            #expect(!"\(stored)".contains("device-of-bob") && !"\(stored)".contains("said by bob"))

            let stream = try await endpoint.reminders(of: "device-of-ada")
            #expect(try await control.rows(["erase", "device-of-ada"]) == [["erased": true]])
            try await stream.expectEnd()
            try await control.journey.wait(until: "NOT EXISTS (SELECT FROM core.erasure)")
            let left = try await control.rows(["export", "device-of-ada"])
            #expect(
                Set(left.compactMap { $0["kind"].string }).isSubset(of: ["device", "names", "conversations", "erased"]))
            #expect(!"\(left)".contains("History") && !"\(left)".contains("said by ada"))
            try await control.daemon.waitForLog("operator's command ended") {
                $0["command"] == "erase" && $0["outcome"] == "done"
            }
            #expect(!control.daemon.output.contains("device-of"))
        }
    }

    @Test("A command that doesn't match the database's functions names the daemon to ask")
    func newerFunctions() async throws {
        try await ControlledDaemon.run { control in
            try await control.journey.sql("DROP FUNCTION core.export_device(text)")
            // The functions are this build's own, but one is missing. The command reports the database's error.
            let spoiled = try await control.command(["export", "ada"])
            #expect(spoiled.status == .exited(1) && spoiled.errors.contains("database error 42883"))
            try await control.journey.sql(
                """
                CREATE FUNCTION core.export_device(p_device text) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$
                """)
            try await control.journey.sql("UPDATE letsswitch.functions SET revision = 9999")
            let refused = try await control.command(["export", "ada"])
            #expect(refused.status == .exited(1))
            #expect(
                refused.errors.hasPrefix(
                    "letsswitchd: the database's functions (revision 9999) are newer than this daemon")
                    && refused.errors.contains("use a daemon that is upgraded") && !refused.errors.contains("\n"),
                "\(refused.errors)")
        }
    }

    @Test("An export of any size uses little memory")
    func longExport() async throws {
        try await ControlledDaemon.run { control in
            try await control.journey.sql(
                """
                INSERT INTO core.block (id, device_id, blocked_id, name, blocked_at)
                SELECT gen_random_uuid(), 'ada', 'other-' || n, repeat('x', 3000), now() + n * interval '1 s'
                FROM generate_series(1, 1200) AS n
                """)
            var helpings: [Int] = []
            let store = ExportStore(PostgresConfiguration(conninfo: control.journey.conninfo))
            try await store.export(try DeviceID("ada")) { helpings.append($0.count) }
            #expect(helpings == [500, 500, 201])
            // The export is larger than the socket's buffers, and the client doesn't read until the export has begun.
            let connection = try await RawConnection.connect(to: .unix(path: control.socket))
            try await connection.send(#"{"command":"export","target":"ada"}"# + "\n")
            try await control.daemon.waitForLog("operator's command received") { $0["command"] == "export" }
            let lines = try await connection.receiveToEnd().split(separator: UInt8(ascii: "\n"))
            #expect(lines.count == 1_202 && lines.last.map { Array($0) } == Array(#"{"end":"done"}"#.utf8))
            let done = try await control.daemon.waitForLog("operator's command ended") { $0["command"] == "export" }
            #expect(done["outcome"] == "done" && done["count"] == 1_201)
            await connection.close()
        }
    }

    @Test("A client that disconnects ends its export, and the log says so")
    func leftExport() async throws {
        try await ControlledDaemon.run { control in
            try await control.journey.sql(
                """
                INSERT INTO core.block (id, device_id, blocked_id, name, blocked_at)
                SELECT gen_random_uuid(), 'ada', 'other-' || n, repeat('x', 3000), now()
                FROM generate_series(1, 1200) AS n
                """)
            let connection = try await RawConnection.connect(to: .unix(path: control.socket))
            try await connection.send(#"{"command":"export","target":"ada"}"# + "\n")
            try await control.daemon.waitForLog("operator's command received") { $0["command"] == "export" }
            await connection.close()
            let ended = try await control.daemon.waitForLog("operator's command ended") { $0["command"] == "export" }
            #expect(ended["outcome"] == "the command has disconnected")
        }
    }

    @Test("An export reads every table with personal data")
    func everyTable() async throws {
        try await Journey.run { journey in
            let impersonal: Set = [
                // Data of the daemons themselves.
                "bridge", "claim", "daemon", "daemon_sample", "provider", "reporter",
                "secret",
                // Users that are connected at this moment.
                "connected_user",
                // Messages in flight. The rows refer to addresses, tasks, messages and users by number.
                "bridge_message", "delivery",
                // Digests of retired names. A digest doesn't reveal whose name it was.
                "retired_name",
            ]
            let text = try await journey.sql(
                "SELECT string_agg(prosrc, ' ') AS text FROM pg_proc WHERE proname = 'export_device'"
            )[0].string("text")
            let schemas = DatabaseSchema.parts.map { $0.name }.joined(separator: ",")
            let tables = try await journey.sql(
                """
                SELECT relname, oid::regclass AS name FROM pg_class
                WHERE relkind = 'r' AND relnamespace = ANY ('{\(schemas)}'::regnamespace[])
                """)
            #expect(tables.count > 20)
            for table in tables where !impersonal.contains(try table.string("relname")) {
                let name = try table.string("name")
                #expect(text.contains(try Regex("\\b\(name)\\b")), "\(name) is neither exported nor impersonal")
            }
        }
    }
}
