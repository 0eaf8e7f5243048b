import Domain
import Foundation
import JourneyTestSupport
import Matches
import Settings
import TestSupport
import Testing

/// Attempts to use what belongs to others.
@Suite struct AbuseTests {
    @Test("Only users with an open room's UUID enter it")
    func rooms() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 600)
            let room = try await endpoint.pair("ada", "bob", start)
            let task = try await endpoint.register("cleo", Instant(seconds: start.seconds + 1))
            let text = room.uuidString
            let unasked = try await endpoint.register("dora", Instant(seconds: start.seconds + 2))
            // The daemon remembers a refusal for a moment of real time, even if the test's clock jumps. Some ids are
            // therefore tried only once.
            let attempts: [(id: String, early: Int?, late: Int?)] = [
                ("", 400, 400), ("?id=", 400, 400), ("?id=*", 400, 400), ("?id=\(text.dropLast())", 400, 400),
                ("?id=\(text)0", 400, 400), ("?id=%7B\(text)%7D", 400, 400), ("?id=+\(text)", 400, 400),
                ("?room=\(text)", 400, 400), ("?id=\(UUID())", 404, 404), ("?id=\(task.id)", 404, 404),
                // The first parameter with a name counts.
                ("?id=\(UUID())&id=\(text)", 404, 404), ("?id=\(task.socketId)", 403, nil),
                ("?id=\(unasked.socketId)", nil, 404), ("?id=\(text)", 403, 101),
            ]
            for attempt in attempts where attempt.early != nil {
                let connection = try await RawConnection.connect(to: endpoint)
                // The ale is sent in one packet with the handshake, without waiting for the response.
                let ale = TestFrame(.text, RoomMessages.ale(room)).bytes()
                try await connection.send(Self.handshake("/socket\(attempt.id)") + ale)
                let response = try await HTTPTestClient(over: connection).readResponse(to: "GET")
                #expect(response.status == attempt.early, "\(attempt.id)")
                if attempt.early == 403 { #expect(response.headers["Retry-After"] != nil) }
                await connection.close()
            }
            let stream = try await endpoint.reminders(of: "dora")
            try await journey.advance(to: start, -57)
            _ = try await stream.nextReminder()
            let peer = try await endpoint.enter(room)
            for attempt in attempts where attempt.late != nil && attempt.late != 101 {
                let refused = try await WebSocketTestClient.refusal(at: endpoint, "/socket\(attempt.id)")
                #expect(refused.status == attempt.late, "\(attempt.id)")
            }
            try await peer.expectNothing()
            let metrics = try await MetricsReading(endpoint)
            #expect(metrics["letsswitch_room_members"] == 1 && metrics["letsswitch_messages_received_total"] == 0)
        }
    }

    @Test("A slow reader flooded with ales loses some instead of its connection")
    func flood() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemonOnUnixSocket { $0.matches.openRooms = true }
            let (room, burst, count) = (UUID(), 1_900, 8)
            let reader = try await endpoint.enter(room)
            let burstOfAles = Array(repeating: TestFrame(.text, RoomMessages.ale(room)).bytes(), count: burst).flatMap(
                \.self)
            // The senders don't read either.
            let senders = try await Array(0..<count).asyncMap { _ in try await endpoint.enter(room) }
            for sender in senders { try await sender.connection.send(burstOfAles) }
            let metrics = try await MetricsReading.wait(at: endpoint) {
                $0["letsswitch_messages_received_total"] == Double(burst * count)
            }
            #expect(metrics["letsswitch_messages_left_out_total"] > 0)
            #expect(metrics["letsswitch_slow_peers_total"] == 0)
            try await reader.send(text: "?")
            var received = 0
            while try await reader.nextMessage() == RoomMessages.cheer { received += 1 }
            #expect(received > 1_000 && received < burst * count)
            try await senders[0].send(text: RoomMessages.ale(room))
            #expect(try await reader.nextMessage() == RoomMessages.cheer)
        }
    }

    @Test("An ale for another room is refused")
    func foreignAle() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 600)
            let own = try await endpoint.pair("ada", "bob", start)
            let other = try await endpoint.pair("cleo", "dora", Instant(seconds: start.seconds + 1))
            let streams = try await ["ada", "cleo"].asyncMap { try await endpoint.reminders(of: $0) }
            try await journey.advance(to: start, -59)
            for stream in streams { _ = try await stream.nextReminder() }
            let intruder = try await endpoint.enter(own)
            let partner = try await endpoint.enter(own)
            let strangers = [try await endpoint.enter(other), try await endpoint.enter(other)]
            for ale in [RoomMessages.ale(other), RoomMessages.ale(other).lowercased(), RoomMessages.ale(UUID())] {
                try await intruder.send(text: ale)
                let answer = try await intruder.nextMessage().json()
                #expect(answer["type"] == "error")
                #expect(answer["reason"].string?.contains(other.uuidString) == false)
            }
            for peer in [partner] + strangers { try await peer.expectNothing() }
            // The connection stays open, and its own room receives its ales.
            try await intruder.send(text: RoomMessages.ale(own))
            #expect(try await partner.nextMessage() == RoomMessages.cheer)
        }
    }

    @Test("A stranger without the deviceId can't see or change its tasks")
    func strangers() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 7200)
            let (alone, paired) = (start, Instant(seconds: start.seconds + 1))
            let task = try await endpoint.register("ada", alone, "Secret plan")
            let promise = try await endpoint.register("ada", paired, "Secret pact")
            try await endpoint.register("bob", paired, "Maths")
            // Ids that are almost right: other case, blanks, patterns, quotes, and characters that look the same.
            for stranger in [
                "eve", "ADA", "ada ", " ada", "%", "_da", "ad_", "a%", "ada' OR 'a'='a", "аda", "ada\u{301}",
            ] {
                let device = try #require(stranger.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                let own = ClientEndpoint.task(stranger, alone, "Secret plan")
                for id in [task.id, promise.id] {
                    let target = "/task/\(id)?deviceId=\(device)"
                    let refused = try await HTTPTestClient.request(at: endpoint, "DELETE", target)
                    #expect(refused.status == 404 && refused.code == "no_such_task", "\(stranger)")
                    #expect(!refused.text.contains("Secret"), "\(stranger)")
                }
                let bySlot = try await endpoint.post("/task/delete", own)
                #expect(bySlot.status == 404 && bySlot.code == "no_such_task", "\(stranger)")
                let day = "\(start)".prefix(10)
                let schedule: TestJSON = ["deviceId": .string(stranger), "date": .string(String(day))]
                let posted = try await endpoint.post("/schedule", schedule)
                let got = try await endpoint.get("/schedule?deviceId=\(device)&date=\(day)&timeZone=UTC")
                for answer in [posted, got] {
                    #expect(answer.status == 200)
                    let hides = [
                        "Secret", "Maths", task.id.uuidString, promise.id.uuidString, promise.socketId.uuidString,
                    ]
                    .allSatisfy { !answer.text.contains($0) }
                    #expect(hides, "\(stranger): \(answer.text)")
                }
                let erased = try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=\(device)")
                #expect(erased.status == 200, "\(stranger)")
            }
            for target in ["/task/\(task.id)", "/task/\(task.id)?deviceId=", "/device", "/device?deviceId=%00"] {
                #expect(try await HTTPTestClient.request(at: endpoint, "DELETE", target).status == 400)
            }
            // A partner knows the title and the room, but can't cancel the task.
            let partners = try await HTTPTestClient.request(at: endpoint, "DELETE", "/task/\(promise.id)?deviceId=bob")
            #expect(partners.status == 404)
            #expect(try await endpoint.register("ada", alone, "Secret plan").id == task.id)
            let still = try await endpoint.register("ada", paired, "Secret pact")
            #expect(still.id == promise.id && still.isPaired && still.partnerTitle == "Maths")
        }
    }

    @Test("A stream gets only its own device's reminders")
    func foreignReminders() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 600)
            _ = try await endpoint.pair("ada", "bob", start)
            let streams = try await ["ada", "bob"].asyncMap { try await endpoint.reminders(of: $0) }
            try await journey.advance(to: start, -59)
            let reminders = try await streams.asyncMap { try await $0.nextReminder() }
            // A stranger that resumes after another device's reminder receives nothing of it. Its next event is about
            // its own task.
            let stranger = try await endpoint.reminders(of: "eve", after: reminders[0].id)
            let later = Instant(seconds: start.seconds + 7200)
            let own = try await endpoint.register("eve", later)
            let event = try await stranger.nextEvent()
            #expect(event.event == "schedule" && !event.data.contains("reminder"))
            // Resuming after the partner's reminder skips none of Bob's own reminders and sends none of the partner's.
            let again = try await endpoint.reminders(of: "bob", after: reminders[0].id)
            #expect(try await again.nextReminder() == reminders[1])
            try await journey.advance(to: later, -59)
            #expect(try await stranger.nextReminder().taskId == own.id)
            for target in ["/reminders", "/reminders?deviceId=", "/reminders?deviceId=%20"] {
                #expect(try await endpoint.get(target).status == 400)
            }
        }
    }

    private static func handshake(_ target: String) -> [UInt8] {
        Array(
            ("GET \(target) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").utf8)
    }
}
