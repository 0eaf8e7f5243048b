import Domain
import Foundation
import JourneyTestSupport
import Reminders
import Settings
import TestSupport
import Testing

@Suite struct EventStreamJourneyTests {
    @Test("A stream starts at once with its head and a comment")
    func beginning() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let stream = try await EventStreamTestClient.connect(to: endpoint, "/reminders?deviceId=ada")
            guard case .comment = try await stream.nextItem() else {
                Issue.record("no comment first")
                return
            }
            #expect(stream.response.headers["Content-Type"] == "text/event-stream")
            #expect(stream.response.headers["Cache-Control"] == "no-store, no-transform")
            let head = try await HTTPTestClient.request(at: endpoint, "HEAD", "/reminders?deviceId=ada")
            #expect(head.status == 200 && head.body.isEmpty)
            let anonymous = try await endpoint.get("/reminders")
            #expect(anonymous.status == 400 && anonymous.code == "invalid_request")
            #expect(try await endpoint.get("/reminders?deviceId=%20").status == 400)
        }
    }

    @Test("Each change of a task is sent to the streams of its day")
    func changes() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let ada = try await endpoint.reminders(of: "ada")
            try await endpoint.register("ada", start)
            #expect(try await ada.nextChange() == "\(start)")
            try await endpoint.register("bob", start)
            #expect(try await ada.nextChange() == "\(start)")
            try await endpoint.register("bob", start, "Art")
            #expect(try await ada.nextChange() == "\(start)")
            let lone = Instant(seconds: start.seconds + 3600)
            try await endpoint.register("cleo", lone)
            #expect(try await ada.nextChange() == "\(lone)")
            let response = try await endpoint.post("/task/delete", ClientEndpoint.task("cleo", lone, ""))
            #expect(response.status == 200)
            #expect(try await ada.nextChange() == "\(lone)")
            // A repeated registration changes nothing, so the next change is about the next slot.
            try await endpoint.register("ada", start)
            let other = Instant(seconds: start.seconds + 7200)
            try await endpoint.register("cleo", other)
            #expect(try await ada.nextChange() == "\(other)")
            // After the reminder of an unmatched task its slot is closed to other users. That is a change, too.
            try await journey.advance(to: other, -60)
            #expect(try await endpoint.reminders(of: "cleo").nextReminder().title == "History")
            #expect(try await ada.nextChange() == "\(other)")
        }
    }

    @Test("A reminder is sent only to the streams of its device")
    func own() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            try await endpoint.register("ada", start, "Secret")
            let streams = [
                try await endpoint.reminders(of: "ada"), try await endpoint.reminders(of: "ada"),
                try await endpoint.reminders(of: "Ada"), try await endpoint.reminders(of: "bob"),
            ]
            let next = Instant(seconds: start.seconds + 1)
            for device in ["Ada", "bob"] { try await endpoint.register(device, next, "Next") }
            try await journey.advance(to: next, -60)
            let titles = try await streams.asyncMap { try await $0.nextReminder().title }
            #expect(titles == ["Secret", "Secret", "Next", "Next"])
        }
    }

    @Test("A device has a limited number of streams")
    func limit() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.reminders.maxStreamsPerDevice = 3 }
            var streams: [EventStreamTestClient] = []
            for _ in 0..<3 { streams.append(try await endpoint.reminders(of: "ada")) }
            let refused = await #expect(throws: StreamRefused.self) { try await endpoint.reminders(of: "ada") }
            #expect(refused?.response.status == 429 && refused?.response.code == "too_many_streams")
            #expect(refused?.response.headers["Retry-After"] != nil)
            streams.append(try await endpoint.reminders(of: "bob"))
            let metrics = try await MetricsReading(endpoint)
            #expect(metrics[#"letsswitch_connections{kind="stream"}"#] == 4)
            #expect(metrics[#"letsswitch_turned_away_total{cause="max-streams-per-device"}"#] == 1)
            await streams[0].connection.close()
            let deadline = ContinuousClock.now + Deadline.standard
            while streams.count < 5 {
                try #require(ContinuousClock.now < deadline)
                do { streams.append(try await endpoint.reminders(of: "ada")) } catch is StreamRefused { continue }
            }
        }
    }
}
