import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// A `deviceId` is the only protection of a user, so no other device is ever shown it.
@Suite struct SecrecyTests {
    @Test("A deviceId appears in no other user's data and in no output")
    func secrecy() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process(["--log-level", "debug", "--log-format", "json"])
            // Letters that occur nowhere else in this test.
            let (ada, bob) = ("qzxjada-7c1f-secret", "qzxjbob-9e02-secret")
            let token = "abadcafe00c0ffee"
            var shown: [String] = []
            func keep(_ response: TestResponse, own: String? = nil) {
                let text = response.text + response.headers.fields.map { "\($0.name): \($0.value)" }.joined()
                shown.append(own.map { text.replacing("\"deviceId\":\"\($0)\"", with: "") } ?? text)
            }
            let start = try await journey.instant(in: 3600)
            for device in [ada, bob] {
                keep(try await endpoint.post("/task", ClientEndpoint.task(device, start, "History")), own: device)
                let tokens: TestJSON = ["deviceId": .string(device), "token": .string(token), "debug": true]
                keep(try await endpoint.post("/token", tokens))
            }
            let streams = try await [ada, bob].asyncMap { try await endpoint.reminders(of: $0) }
            keep(try await endpoint.post("/task", ClientEndpoint.task(ada, start, "Maths")), own: ada)
            for device in [ada, bob] {
                let day: TestJSON = ["deviceId": .string(device), "date": .string(String("\(start)".prefix(10)))]
                keep(try await endpoint.post("/schedule", day))
                keep(try await endpoint.get("/schedule?deviceId=\(device)&date=2026-11-22&timeZone=UTC"))
                for refusal in try await Self.refusals(of: device, start, at: endpoint) { keep(refusal) }
            }
            let partner = try await streams[1].nextEvent()
            shown.append(partner.data)
            try await journey.advance(to: start, -59)
            let reminders = try await streams.asyncMap { try await $0.nextReminder() }
            let data = "\(reminders)"
            shown.append(data)
            let room = try #require(reminders[0].roomId)
            let peers = [try await endpoint.enter(room), try await endpoint.enter(room)]
            try await peers[0].send(text: RoomMessages.ale(room))
            #expect(try await peers[1].nextMessage() == RoomMessages.cheer)
            // A peer's claims about itself aren't sent back either.
            try await peers[0].send(text: #"{"type":"\#(ada)","id":"\#(bob)"}"#)
            shown.append("\(try await peers[0].nextMessage().json())")
            // The database fails: its errors could quote the statement's values.
            try await journey.sql("ALTER TABLE core.address RENAME TO address_elsewhere")
            for device in [ada, bob] {
                let tokens: TestJSON = ["deviceId": .string(device), "token": .string(token), "debug": true]
                let failed = try await endpoint.post("/token", tokens)
                #expect(failed.status >= 500)
                keep(failed)
            }
            try await journey.sql("ALTER TABLE core.address_elsewhere RENAME TO address")
            for device in [ada, bob] {
                keep(try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=\(device)"))
            }
            keep(try await endpoint.get("/metrics"))
            keep(try await endpoint.get("/readyz"))
            try await daemon.terminate()
            let output = daemon.output
            #expect(output.contains("task registered") && output.contains("token registered"))
            for (place, text) in [("log", output)] + shown.map({ ("answer", $0) }) {
                for secret in [ada, bob, "qzxj", token] where text.localizedCaseInsensitiveContains(secret) {
                    Issue.record("\(secret) in the \(place): \(text.prefix(2000))")
                }
            }
        }
    }

    /// Returns the answers to requests that are wrong in different ways, each with the id in it.
    private static func refusals(
        of device: String, _ start: Instant, at endpoint: ClientEndpoint
    ) async throws -> [TestResponse] {
        let long = String(repeating: device, count: 20)
        let bodies: [TestJSON] = [
            ["deviceId": .string(long), "startsAt": "\(start)", "title": "x"],
            ["deviceId": .string(device + "\0"), "startsAt": "\(start)", "title": "x"],
            ["deviceId": .string(device), "startsAt": .string(device), "title": "x"],
            ["deviceId": .string(device), "startsAt": "\(start)", "title": "x", "timeZone": .string(device)],
            ["deviceId": .string(device), "startsAt": "\(start)", "title": .string(long + long)],
            ["deviceId": .string(device)], .string(device),
        ]
        var answers: [TestResponse] = []
        for path in ["/task", "/task/delete", "/schedule", "/token"] {
            for body in bodies { answers.append(try await endpoint.post(path, body)) }
        }
        for target in ["/task/\(UUID())?deviceId=\(device)", "/task/x?deviceId=\(device)", "/device?deviceId=\(long)"] {
            answers.append(try await HTTPTestClient.request(at: endpoint, "DELETE", target))
        }
        for target in [
            "/schedule?deviceId=\(device)", "/socket?id=\(device)", "/nowhere?deviceId=\(device)",
            "/reminders?deviceId=\(long)",
        ] {
            answers.append(try await endpoint.get(target))
        }
        for answer in answers { #expect((400..<500).contains(answer.status), "\(answer.status) \(answer.text)") }
        return answers
    }
}
