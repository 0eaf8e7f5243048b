import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// The published app against the daemon: the daemon receives the app's exact bodies, and types like the app's decode
/// the answers.
@Suite struct AppTests {
    private func post(_ body: [UInt8], to target: String, at endpoint: ClientEndpoint) async throws -> TestResponse {
        try await HTTPTestClient.request(
            at: endpoint, "POST", target, headers: ["Content-Type": "application/json"], body: body)
    }

    private func day(_ device: String, _ date: Date, at endpoint: ClientEndpoint) async throws -> App.Day {
        let body = try App.encode(App.DayRequest(deviceId: device, date: date))
        return try await post(body, to: "/schedule", at: endpoint).decode(App.Day.self)
    }

    /// Returns the next midnight in UTC, by the real clock.
    private func tomorrow(_ journey: Journey) async throws -> Date {
        let now = try await journey.instant(in: 0).seconds
        return Date(timeIntervalSince1970: Double((now / 86_400 + 1) * 86_400))
    }

    @Test("The bodies documented for the app are accepted and answered as documented")
    func bodies() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await journey.advance(to: try #require(Instant("2026-11-21T12:00:00Z")))
            let token = #"{"deviceId": "A1", "token": "00ff10", "debug": true}"#
            let answered = try await post(Array(token.utf8), to: "/token", at: endpoint)
            #expect(answered.status == 200 && answered.text == "{}")

            func body(_ device: String, _ title: String) -> [UInt8] {
                Array(
                    """
                    {"date": "2026-11-22T00:00:00Z", "deviceId": "\(device)", "startTime": "09:00", "title": "\(title)",
                     "timeZone": "Europe/London", "isSent": false, "isPaired": false, "debug": false}
                    """.utf8)
            }
            let first = try await post(body("A1", "Maths"), to: "/task", at: endpoint)
            #expect(first.status == 201)
            #expect(first.headers["Content-Type"]?.hasPrefix("application/json") == true)
            let second = try await post(body("B2", "History"), to: "/task", at: endpoint)
            #expect(second.status == 201)
            let members = try second.json()
            let task = try second.decode(RegisteredTask.self)
            #expect(
                second.text
                    == #"{"id":"\#(task.id.uuidString)","deviceId":"B2","title":"History","startTime":"09:00","#
                    + #""timeZone":"Europe/London","startsAt":"2026-11-22T09:00:00Z","#
                    + #""remindsAt":"2026-11-22T08:59:00Z","isPaired":true,"partnerTitle":"Maths","#
                    + #""socketId":"\#(task.socketId.uuidString)"}"#)
            #expect(try members["socketId"] == first.json()["socketId"])
            #expect(try first.json().object?.keys.contains("partnerTitle") == false)

            let asked = Array(#"{"deviceId": "B2", "date": "2026-11-22T00:00:00Z"}"#.utf8)
            let schedule = try await post(asked, to: "/schedule", at: endpoint).json()["schedule"]
            #expect(schedule.array?.count == 32)
            #expect((0..<16).map { schedule[2 * $0].string } == App.Session.allCases.map(\.rawValue))
            #expect(schedule[2] == "09:00")
            #expect(
                schedule[3] == [
                    "id": .string(task.id.uuidString), "title": "History", "hasOwnTask": true, "hasSomebodyElse": true,
                    "partnerTask": "Maths", "roomId": .string(task.socketId.uuidString),
                ])
            #expect(schedule[1].object.map { Set($0.keys) } == ["id", "title", "hasOwnTask", "hasSomebodyElse"])
        }
    }

    @Test("The app's types decode a day")
    func day() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let date = try await tomorrow(journey)
            let empty = try await day("ada", date, at: endpoint)
            #expect(Set(empty.schedule.keys) == Set(App.Session.allCases))
            #expect(empty.schedule.values.allSatisfy { !$0.hasOwnTask && !$0.hasSomebodyElse && $0.roomId == nil })
            #expect(Set(empty.schedule.values.map(\.id)).count == 16)

            var history = App.Task(date: date, deviceId: "ada", startTime: .twentyOne, title: "History")
            let task = try await post(try App.encode(history), to: "/task", at: endpoint).decode(RegisteredTask.self)
            var maths = App.Task(date: date, deviceId: "bob", startTime: .twentyOne, title: "Maths")
            #expect(try await day("bob", date, at: endpoint).schedule[.twentyOne]?.hasSomebodyElse == true)
            #expect(try await day("ada", date, at: endpoint).schedule[.twentyOne]?.hasSomebodyElse == false)

            // Ada cancels. The app always sends the `socketId` then.
            history.socketId = task.socketId.uuidString
            let deleted = try await post(try App.encode(history), to: "/task/delete", at: endpoint)
            #expect(deleted.status == 200)
            #expect(try deleted.decode(RegisteredTask.self) == task)
            #expect(try await day("bob", date, at: endpoint).schedule[.twentyOne]?.hasSomebodyElse == false)
            let repeated = try await post(try App.encode(history), to: "/task/delete", at: endpoint)
            #expect(repeated.status == 404 && repeated.code == "no_such_task")

            history.socketId = nil
            let again = try await post(try App.encode(history), to: "/task", at: endpoint).decode(RegisteredTask.self)
            #expect(again.id != task.id && again.socketId != task.socketId)
            let partner = try await post(try App.encode(maths), to: "/task", at: endpoint).decode(RegisteredTask.self)
            maths.socketId = partner.socketId.uuidString
            let refused = try await post(try App.encode(maths), to: "/task/delete", at: endpoint)
            #expect(refused.status == 409 && refused.code == "has_partner")

            let slot = try #require(try await day("ada", date, at: endpoint).schedule[.twentyOne])
            #expect(slot.id == again.id && slot.title == "History" && slot.partnerTask == "Maths")
            #expect(slot.hasOwnTask && slot.hasSomebodyElse && slot.roomId == partner.socketId)
        }
    }

    @Test("The app's room messages work as text and as binary")
    func room() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 600)
            let room = try await endpoint.pair("ada", "bob", start)
            try await journey.advance(to: start, -30)
            let target = ClientEndpoint.room(room)
            let stream = try await endpoint.reminders(of: "ada")
            #expect(try await stream.nextReminder().roomId == room)
            let ada = try await WebSocketTestClient.connect(to: endpoint, target)
            let bob = try await WebSocketTestClient.connect(to: endpoint, target)
            func receive(_ peer: WebSocketTestClient) async throws -> App.Message {
                // The app accepts only binary frames.
                guard case .binary(let bytes) = try await peer.nextMessage() else {
                    throw ClientFailure.violation("a text frame")
                }
                return try JSONDecoder().decode(App.Message.self, from: Data(bytes))
            }
            #expect(try await receive(ada).type == "handshake")
            #expect(try await receive(bob).type == "handshake")
            let ale = try App.encode(App.Message(type: "ale", id: room.uuidString))
            try await ada.send(binary: ale)
            #expect(try await receive(bob) == App.Message(type: "aleResponse"))
            try await bob.send(text: String(decoding: ale, as: UTF8.self))
            #expect(try await receive(ada) == App.Message(type: "aleResponse"))
            try await ada.closeHandshake()
            try await bob.closeHandshake()
        }
    }

    @Test("curl works with GET /schedule, DELETE /task/{id} and DELETE /device")
    func curl() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await journey.advance(to: try #require(Instant("2026-11-21T12:00:00Z")))
            let odd = try await endpoint.register("ada", try #require(Instant("2026-11-22T09:00:30Z")))
            let open = try await endpoint.register("bob", try #require(Instant("2026-11-22T07:15:00Z")))
            let target = "/schedule?deviceId=ada&date=2026-11-22&timeZone=Europe/London"
            let schedule = try await endpoint.get(target).json()["schedule"]
            #expect(schedule.object?.count == 18)
            #expect(schedule["09:00:30"]["hasOwnTask"] == true && schedule["07:15"]["hasSomebodyElse"] == true)
            let response = try await endpoint.get(target)
            let keys = response.text.matches(of: #/"(\d\d:\d\d(?::\d\d)?)":\{/#).map { String($0.1) }
            #expect(keys == keys.sorted() && keys.count == 18)

            let foreign = try await HTTPTestClient.request(
                at: endpoint, "DELETE", "/task/\(open.id.uuidString)?deviceId=ada")
            #expect(foreign.status == 404)
            let cancelled = try await HTTPTestClient.request(
                at: endpoint, "DELETE", "/task/\(odd.id.uuidString.lowercased())?deviceId=ada")
            #expect(cancelled.status == 200)
            #expect(try cancelled.decode(RegisteredTask.self) == odd)
            let erased = try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=bob")
            #expect(erased.status == 200 || erased.status == 204)
            #expect(try await endpoint.get(target).json()["schedule"].object?.count == 16)
        }
    }
}
