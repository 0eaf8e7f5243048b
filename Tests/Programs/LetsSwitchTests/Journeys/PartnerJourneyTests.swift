import Domain
import Foundation
import JourneyTestSupport
import Settings
import TestSupport
import Testing

/// Users who leave a match or move a task, and their partners.
@Suite struct PartnerJourneyTests {
    private func leave(_ task: RegisteredTask, at endpoint: ClientEndpoint) async throws -> TestResponse {
        try await HTTPTestClient.request(
            at: endpoint, "DELETE", "/task/\(task.id.uuidString)?deviceId=\(task.deviceId)&leave=true")
    }

    private func move(_ task: RegisteredTask, to start: Instant, at endpoint: ClientEndpoint) async throws
        -> TestResponse
    {
        try await endpoint.post(
            "/task/\(task.id.uuidString)/move", ["deviceId": .string(task.deviceId), "startsAt": "\(start)"])
    }

    @Test(
        "When one partner leaves, the other moves to a new room"
    )
    func leaveAfterTheLead() async throws {
        try await Journey.run { journey in
            let daemons = [try await journey.daemon(), try await journey.daemon()]
            let start = try await journey.instant(in: 3600)
            let ada = try await daemons[0].register("ada", start)
            let bob = try await daemons[1].register("bob", start, "Maths")
            try await journey.advance(to: start, -59)
            let streams = try await daemons.asyncMap { try await $0.reminders(of: "bob") }
            for stream in streams { #expect(try await stream.nextReminder().roomId == ada.socketId) }
            let peers = try await daemons.asyncMap {
                let peer = try await WebSocketTestClient.connect(
                    to: $0, "\(ClientEndpoint.room(ada.socketId))&taskId=\(bob.id.uuidString)")
                #expect(try await peer.nextMessage() == RoomMessages.handshake)
                return peer
            }
            let refused = try await HTTPTestClient.request(
                at: daemons[0], "DELETE", "/task/\(ada.id.uuidString)?deviceId=ada")
            #expect(refused.status == 409 && refused.code == "has_partner")

            let left = try await leave(ada, at: daemons[0])
            #expect(left.status == 200)
            #expect(try left.json()["partnerTitle"] == "Maths")
            for stream in streams { #expect(try await stream.nextChange() == "\(start)") }
            for peer in peers { try await peer.expectClose(1000) }
            let repeated = try await daemons[1].register("bob", start, "Maths")
            #expect(!repeated.isPaired && repeated.socketId != ada.socketId)
            for daemon in daemons {
                #expect(try await daemon.status(of: ada.socketId) == 404)
                #expect(try await daemon.status(of: repeated.socketId) == 101)
            }
            #expect(try await leave(ada, at: daemons[1]).code == "no_such_task")

            // A user who registers late becomes the partner of the waiting user, in that user's room.
            try await journey.advance(to: start, 200)
            let late = try await daemons[0].register("cem", start, "Art")
            #expect(late.isPaired && late.socketId == repeated.socketId)
            for stream in streams { #expect(try await stream.nextChange() == "\(start)") }
            let closed = try await daemons[1].post("/task", ClientEndpoint.task("dan", start, "Maths"))
            #expect(closed.code == "registration_closed")
        }
    }

    @Test("The remaining partner is notified at the commit, even if the answer is lost")
    func lostAnswer() async throws {
        try await Journey.run { journey in
            let daemons = [try await journey.daemon(), try await journey.daemon()]
            let start = try await journey.instant(in: 3600)
            let ada = try await daemons[0].register("ada", start)
            _ = try await daemons[1].register("bob", start, "Maths")
            let streams = try await daemons.asyncMap { try await $0.reminders(of: "bob") }
            try await journey.sql("SELECT schedule.leave_task('ada', '\(ada.id)', 300)")
            for stream in streams { #expect(try await stream.nextChange() == "\(start)") }
        }
    }

    @Test("Each user reports and sees only their own starts")
    func history() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 600)
            let ada = try await endpoint.register("ada", start)
            _ = try await endpoint.register("bob", start, "Maths")
            let target = "/task/\(ada.id.uuidString)/started"
            let early = try await endpoint.post(target, ["deviceId": "ada"])
            #expect(early.status == 409 && early.code == "not_started")
            try await journey.advance(to: start, 10)
            #expect(try await endpoint.post(target, ["deviceId": "bob"]).code == "no_such_task")
            #expect(try await endpoint.post(target, [:]).code == "invalid_request")
            #expect(try await endpoint.post(target, ["deviceId": "ada"]).status == 200)
            try await journey.advance(to: start, 3600)
            let ours = try await endpoint.get("/history?deviceId=ada").json()
            #expect(ours["kept"] == 1 && ours["streak"] == 1 && ours["missed"] == 0 && ours["letDown"] == 1)
            #expect(ours["tasks"][0]["outcome"] == "kept" && ours["tasks"][0]["letDown"] == true)
            let theirs = try await endpoint.get("/history?deviceId=bob").json()
            #expect(theirs["missed"] == 1 && theirs["streak"] == 0)
            #expect(theirs["tasks"][0]["startedAt"].isAbsent)
            #expect(try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=ada").status == 200)
            #expect(try await endpoint.get("/history?deviceId=ada").json()["tasks"] == [])
            #expect(try await endpoint.get("/history").code == "invalid_request")
        }
    }

    @Test("Each partner is notified of the other's connection and departure")
    func presence() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.presenceGrace = .seconds(2) }
            let start = try await journey.instant(in: 600)
            let ada = try await endpoint.register("ada", start)
            let bob = try await endpoint.register("bob", start, "Maths")
            try await journey.advance(to: start, -59)
            _ = try await endpoint.reminders(of: "ada").nextReminder()
            func enter(_ task: RegisteredTask) async throws -> WebSocketTestClient {
                let target = "\(ClientEndpoint.room(ada.socketId))&presence=true&taskId=\(task.id.uuidString)"
                let peer = try await WebSocketTestClient.connect(to: endpoint, target)
                #expect(try await peer.nextMessage() == RoomMessages.handshake)
                return peer
            }
            let peer = try await enter(ada)
            func expect(_ partner: String, _ count: Int) async throws {
                let presence = try await peer.nextMessage().json()
                #expect(presence["type"] == "presence")
                #expect(presence["data"] == ["count": .number(Double(count)), "partner": .string(partner)])
            }
            try await expect("expected", 1)
            let other = try await enter(bob)
            try await expect("here", 2)
            await other.close()
            try await expect("away", 2)
            try await expect("left", 1)
        }
    }

    @Test("A task is moved completely or not at all")
    func move() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let (nine, ten) = (try await journey.instant(in: 3600), try await journey.instant(in: 7200))
            let ada = try await endpoint.register("ada", nine)
            _ = try await endpoint.register("bob", nine, "Maths")
            let cem = try await endpoint.register("cem", ten, "Art")
            let (bobs, cems) = (try await endpoint.reminders(of: "bob"), try await endpoint.reminders(of: "cem"))
            let answer = try await move(ada, to: ten, at: endpoint)
            #expect(answer.status == 200)
            let moved = try answer.decode(RegisteredTask.self)
            #expect(moved.id == ada.id && moved.title == ada.title && moved.socketId == cem.socketId)
            #expect(moved.partnerTitle == "Art")
            #expect(try await bobs.nextChange() == "\(nine)")
            #expect(try await cems.nextChange() == "\(ten)")
            #expect(try await endpoint.status(of: ada.socketId) == 404)

            try await endpoint.register("ada", nine, "Again")
            let taken = try await move(ada, to: nine, at: endpoint)
            #expect(taken.status == 409 && taken.code == "slot_taken")
            #expect(try await move(ada, to: ten, at: endpoint).decode(RegisteredTask.self) == moved)
            for (body, member) in [
                (["deviceId": "ada"], "date"), (["startsAt": "2026-11-22T09:00:00Z"], "deviceId"),
                (["deviceId": "ada", "startsAt": "\(ten)", "timeZone": "Mars/Base"], "timeZone"),
            ] as [(TestJSON, String)] {
                let refused = try await endpoint.post("/task/\(ada.id.uuidString)/move", body)
                #expect(refused.status == 400)
                #expect(try refused.json()["reason"].string?.hasPrefix(member) == true)
            }
        }
    }
}
