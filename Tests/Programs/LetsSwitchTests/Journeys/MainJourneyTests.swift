import Domain
import Foundation
import JourneyTestSupport
import Schedule
import Settings
import TestSupport
import Testing

/// The main job, end to end: register, be matched, be reminded, enter the room, cheer, leave. The clock runs, so due
/// reminders are sent without another step of the test.
@Suite struct MainJourneyTests {
    @Test("Two users register, are reminded, meet and cheer", arguments: ClientLibrary.allCases)
    func main(_ library: ClientLibrary) async throws {
        try await Journey.run(clock: .running) { journey in
            let endpoint = try await journey.daemon { $0.schedule.reminderLead = .seconds(2) }
            let ahead = 600
            let start = try await journey.instant(in: ahead)
            let own = try await endpoint.register("ada", start, "History", zone: "Europe/London")
            #expect(!own.isPaired && own.partnerTitle == nil)
            let partner = try await endpoint.register("bob", start, "Maths \"\\\n⏰", zone: "America/Vancouver")
            #expect(partner.isPaired && partner.partnerTitle == "History" && partner.socketId == own.socketId)
            let lonely = try await endpoint.register("cleo", Instant(seconds: start.seconds - 1))
            #expect(!lonely.isPaired)
            let room = own.socketId
            let streams = try await ["ada", "bob", "cleo"].asyncMap { try await endpoint.reminders(of: $0) }

            let early = try await library.refusal(ClientEndpoint.room(room), at: endpoint)
            #expect(early.status == 403)
            #expect((1..<ahead).contains(Int(early.headers["Retry-After"] ?? "") ?? 0))
            if library == .own {
                // The independent library drops the body of a refusal.
                let body = try early.json()
                #expect(body["code"] == "room_not_open" && body["error"] == true)
                #expect(body["opensAt"] == "\(Instant(seconds: start.seconds - 2))")
            }
            #expect(try await endpoint.status(of: lonely.socketId) == 403)

            // From here the test's clock runs by itself.
            try await journey.advance(to: start, -4)
            let reminders = try await streams.asyncMap { try await $0.nextReminder() }
            let now = try await journey.instant(in: 0)
            #expect(now.seconds > start.seconds - 2)
            #expect(reminders[0].taskId == own.id && reminders[0].title == "History")
            #expect(reminders[0].partnerTask == "Maths \"\\\n⏰" && reminders[1].partnerTask == "History")
            #expect(reminders[0].roomId == room && reminders[1].roomId == room)
            #expect(reminders[0].timeZone == "Europe/London" && reminders[0].startTime == own.startTime)
            #expect(reminders[0].startsAt == Date(timeIntervalSince1970: Double(start.seconds)))
            #expect(reminders[2].roomId == nil && reminders[2].partnerTask == nil)
            #expect(Set(reminders.map(\.id)).count == 3)
            #expect(try await endpoint.status(of: lonely.socketId) == 404)

            let ada = try await library.enter(ClientEndpoint.room(room), at: endpoint)
            // A room's UUID is accepted in either case.
            let bob = try await library.enter("/socket?id=\(room.uuidString.lowercased())", at: endpoint)
            let third = try await endpoint.enter(room)
            for peer in [ada, bob] { #expect(try await peer.receive() == RoomMessages.handshake) }

            try await ada.send(RoomMessages.ale(room))
            for peer in [bob, third] { #expect(try await peer.receive() == RoomMessages.cheer) }
            try await bob.send(Array(RoomMessages.ale(room).utf8))
            for peer in [ada, third] { #expect(try await peer.receive() == RoomMessages.cheer) }
            for nonsense in ["nonsense", RoomMessages.ale(UUID()), #"{"type":"beer"}"#] {
                try await ada.send(nonsense)
                let answer = try await ada.receive().json()
                #expect(answer["type"] == "error" && answer["reason"].string?.isEmpty == false)
            }
            // Cheers aren't sent back to their sender, and errors are sent only to the peer that caused them.
            for peer in [ada, bob, third] { try await peer.expectNothing() }

            try await journey.advance(to: start, 3598)
            for peer in [ada, bob, third] { #expect(try await peer.end().code == 1000) }
            #expect(try await library.refusal(ClientEndpoint.room(room), at: endpoint).status == 410)
            #expect(try await endpoint.get(ClientEndpoint.room(room)).status == 410)
            #expect(try await endpoint.status(of: lonely.socketId) == 404)
        }
    }

    @Test("A refused request gets its reason, in the documented order of checks")
    func refusals() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let room = try await endpoint.pair("ada", "bob", start)
            for target in ["/socket", "/socket?id=", "/socket?id=nonsense"] {
                #expect(try await endpoint.get(target).json()["code"] == "invalid_request")
            }
            let unknown = try await endpoint.get(ClientEndpoint.room(UUID()))
            #expect(unknown.status == 404 && unknown.code == "no_such_room")
            let early = try await endpoint.get(ClientEndpoint.room(room))
            #expect(early.status == 403)
            let wait = try #require(early.headers["Retry-After"].flatMap { Int($0) })
            #expect((3500...3541).contains(wait))

            // The stream is open before the clock advances, and its reminder arrives after the room has opened. The
            // daemon remembers a refusal for a second, so an earlier attempt could be refused again.
            let stream = try await endpoint.reminders(of: "ada")
            try await journey.advance(to: start, -60)
            _ = try await stream.nextReminder()
            let plain = try await endpoint.get(ClientEndpoint.room(room))
            #expect(plain.status == 426)
            #expect(plain.headers["Upgrade"]?.lowercased() == "websocket")
            #expect(try await endpoint.status(of: room) == 101)

            let peer = try await endpoint.enter(room)
            try await journey.advance(to: start, 3600)
            #expect(try await peer.expectClose(1000) == "the room has closed")
            #expect(try await endpoint.get(ClientEndpoint.room(room)).status == 410)
        }
    }

    @Test("Registration closes at the lead by the database's clock")
    func registrationCloses() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let task = try await endpoint.register("ada", start)
            try await journey.advance(to: start, -59.5)
            let late = try await endpoint.post("/task", ClientEndpoint.task("bob", start, "Maths"))
            #expect(late.status == 409 && late.code == "registration_closed")
            let repeated = try await endpoint.post("/task", ClientEndpoint.task("ada", start, "History"))
            #expect(repeated.status == 200)
            #expect(try repeated.decode(RegisteredTask.self) == task)
            let retitled = try await endpoint.post("/task", ClientEndpoint.task("ada", start, "Art"))
            #expect(retitled.status == 409)
            let far = try await endpoint.register("bob", try await journey.instant(in: 89 * 86_400))
            #expect(!far.isPaired)
            let tooFar = try await endpoint.post(
                "/task", ClientEndpoint.task("bob", try await journey.instant(in: 91 * 86_400), "Maths"))
            #expect(tooFar.status == 400 && tooFar.code == "too_far_ahead")
        }
    }
}
