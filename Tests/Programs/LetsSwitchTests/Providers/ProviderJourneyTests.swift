import Domain
import Foundation
import JourneyTestSupport
import Server
import Settings
import TestSupport
import Testing
import Wire

@testable import LetsSwitch
@testable import Notifications

/// Reminders and events that the daemon sends to a recorder on this machine.
@Suite struct ProviderJourneyTests {
    private static let secretText = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func settings(webhook: String? = nil, ntfy: String? = nil) throws -> ProviderSettings {
        var settings = ProviderSettings()
        settings.publicURL = "https://example.org"
        settings.webhook.url = webhook
        if webhook != nil { settings.webhook.secrets = [try #require(WebhookSecret(Self.secretText))] }
        settings.ntfy.server = ntfy
        return settings
    }

    /// Returns the next webhook request about this event.
    private func next(
        _ event: String, at recorder: HTTPRecorder,
        where condition: @escaping @Sendable (TestJSON) -> Bool = { _ in true }
    ) async throws -> (asked: HTTPRecorder.ReceivedRequest, data: TestJSON) {
        let asked = try await recorder.requests.next(event) { asked in
            guard asked.target == "/hook", let json = try? asked.json() else { return false }
            return json["type"].string == event && condition(json["data"])
        }
        return (asked, try asked.json()["data"])
    }

    private func checkSignature(_ asked: HTTPRecorder.ReceivedRequest) throws {
        let secret = try #require(WebhookSecret(Self.secretText))
        let time = try #require(asked.headers["webhook-timestamp"].flatMap { Int($0) })
        let message = WebhookMessage(id: try #require(asked.headers["webhook-id"]), body: asked.body)
        let fields = try message.fields(signedWith: [secret], at: time)
        #expect(fields.last?.value == asked.headers["webhook-signature"])
        #expect(asked.headers["content-type"] == "application/json")
        #expect(abs(Double(time) - Date().timeIntervalSince1970) < 120)
    }

    @Test("The webhook gets all events of a match, with the attendance")
    func webhook() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                let providers = try settings(webhook: recorder.url("/hook"))
                let (daemon, endpoint) = try await journey.daemonAndEndpoint { $0.providers = providers }
                let start = try await journey.instant(in: 3600)
                let ada = try await endpoint.register("device-ada", start, "History")
                let registered = try await next("task.registered", at: recorder)
                try checkSignature(registered.asked)
                #expect(registered.data["taskId"].string == ada.id.uuidString)
                #expect(registered.data["title"].string == "History")
                #expect(registered.data["startsAt"].string == "\(start)")
                let bob = try await endpoint.register("device-bob", start, "Maths")
                let match = try await next("match.created", at: recorder).data
                #expect(match["taskIds"] == [.string(ada.id.uuidString), .string(bob.id.uuidString)])
                #expect(match["roomId"].string == ada.socketId.uuidString)

                try await journey.advance(to: start, -59)
                let opened = try await next("room.opened", at: recorder).data
                #expect(opened["roomId"].string == ada.socketId.uuidString)
                let reminder = try await next("reminder", at: recorder) {
                    $0["taskId"].string == ada.id.uuidString
                }
                #expect(reminder.data["partnerTask"].string == "Maths")
                #expect(reminder.data["id"].string == reminder.asked.headers["webhook-id"])
                try await journey.wait(
                    until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = 2")

                // Ada names her own task. A stranger names a task that isn't in the match.
                let room = ClientEndpoint.room(ada.socketId)
                let peer = try await WebSocketTestClient.connect(
                    to: endpoint, "\(room)&taskId=\(ada.id.uuidString.lowercased())")
                #expect(try await peer.nextMessage() == RoomMessages.handshake)
                let joined = try await next("room.joined", at: recorder).data
                #expect(joined["taskId"].string == ada.id.uuidString)
                #expect(joined["peers"].int == 1)
                let stranger = try await WebSocketTestClient.connect(
                    to: endpoint, "\(room)&taskId=\(UUID().uuidString)")
                #expect(try await stranger.nextMessage() == RoomMessages.handshake)
                let other = try await next("room.joined", at: recorder).data
                #expect(other["taskId"].isAbsent)
                #expect(other["peers"].int == 2)
                await peer.close()
                let left = try await next("room.left", at: recorder).data
                #expect(left["taskId"].string == ada.id.uuidString)
                #expect(left["peers"].int == 1)

                try await journey.advance(to: start, 3603)
                await daemon.clockWasSet()
                let closed = try await next("room.closed", at: recorder).data
                #expect(closed["came"] == [.string(ada.id.uuidString)])
                #expect(closed["mostPeers"].int == 2)
                #expect(closed["taskIds"].array?.count == 2)
                try await journey.wait(until: "NOT EXISTS (SELECT FROM core.delivery)")
                // On a slow machine a message may be sent twice, with the same id.
                let messages = Dictionary(
                    grouping: recorder.requests.all.map { ($0.headers["webhook-id"], $0.text) }, by: \.0)
                #expect(messages.count == 10)
                #expect(messages.values.allSatisfy { Set($0.map(\.1)).count == 1 })
                // A `deviceId` is a secret.
                #expect(!recorder.requests.all.contains { $0.text.contains("device-") })
            }
        }
    }

    @Test("A cancelled task is reported, too")
    func cancelled() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                let providers = try settings(webhook: recorder.url("/hook"))
                let endpoint = try await journey.daemon { $0.providers = providers }
                let task = try await endpoint.register("ada", try await journey.instant(in: 3600))
                let answer = try await HTTPTestClient.request(
                    at: endpoint, "DELETE", "/task/\(task.id.uuidString)?deviceId=ada")
                #expect(answer.status == 200)
                #expect(try await next("task.cancelled", at: recorder).data["taskId"].string == task.id.uuidString)
            }
        }
    }

    @Test("A phone with ntfy gets its reminders until ntfy is switched off")
    func ntfy() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                let providers = try settings(ntfy: recorder.url())
                let endpoint = try await journey.daemon { $0.providers = providers }
                let on = try await endpoint.post("/ntfy", ["deviceId": "ada"])
                #expect(on.status == 200)
                let topic = try #require(try on.json()["topic"].string)
                #expect(try on.json()["url"].string == "\(recorder.url())/\(topic)")
                #expect(try await endpoint.post("/ntfy", ["deviceId": "ada"]).json()["topic"].string == topic)
                #expect(try await endpoint.post("/ntfy", ["deviceId": ""]).status == 400)
                let start = try await journey.instant(in: 3600)
                _ = try await endpoint.pair("ada", "bob", start)
                try await journey.advance(to: start, -59)
                let asked = try await recorder.requests.next("ntfy")
                #expect(asked.target == "/")
                #expect(try asked.json()["topic"].string == topic)
                #expect(try asked.json()["title"].string == "History")
                try await journey.wait(
                    until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = 1")
                let metrics = try await MetricsReading(endpoint)
                #expect(metrics[#"letsswitch_deliveries_total{channel="ntfy",outcome="accepted"}"#] == 1)

                let off = try await HTTPTestClient.request(at: endpoint, "DELETE", "/ntfy?deviceId=ada")
                #expect(off.status == 200)
                let later = Instant(seconds: start.seconds + 600)
                try await endpoint.register("ada", later)
                try await journey.advance(to: later, -59)
                try await journey.wait(until: "(SELECT count(*) FROM reminders.reminder) = 3")
                #expect(try await journey.count("core.delivery") == 0)
                #expect(recorder.requests.all.count == 1)
            }
        }
    }

    @Test("Without an ntfy server the route doesn't exist")
    func noNtfy() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            #expect(try await endpoint.post("/ntfy", ["deviceId": "ada"]).status == 404)
        }
    }

    @Test("A provider that hangs delays no other delivery")
    func hangs() async throws {
        try await HTTPRecorder.run(
            answer: HTTPRecorder.Answer { asked in
                if asked.target == "/hook" { try? await Task.sleep(for: .seconds(3600)) }
                return Response()
            }
        ) { recorder in
            try await Journey.run { journey in
                let providers = try settings(webhook: recorder.url("/hook"), ntfy: recorder.url())
                let (daemon, endpoint) = try await journey.daemonAndEndpoint {
                    $0.providers = providers
                    $0.drainTimeout = .seconds(3)
                }
                _ = try await endpoint.post("/ntfy", ["deviceId": "ada"])
                let stream = try await endpoint.reminders(of: "ada")
                let start = try await journey.instant(in: 3600)
                // The events are more than the webhook's concurrency, so all its requests hang.
                for number in 0..<40 { try await endpoint.register("d\(number)", start) }
                try await endpoint.register("ada", start)
                try await journey.advance(to: start, -59)
                #expect(try await stream.nextReminder().title == "History")
                try await recorder.requests.next("ntfy") { $0.target == "/" }
                await daemon.stop()
                // The deliveries are released for the next daemon.
                #expect(try await journey.count("core.delivery WHERE channel = 'webhook'") > 40)
                #expect(
                    try await journey.count(
                        "core.delivery WHERE channel = 'webhook' AND next_try_at > core.clock()") <= 41)
            }
        }
    }

    @Test("A receiver that hangs on events still gets its reminders at once")
    func hangsOnEvents() async throws {
        try await HTTPRecorder.run(
            answer: HTTPRecorder.Answer { asked in
                if (try? asked.json())?["type"].string != "reminder" { try? await Task.sleep(for: .seconds(3600)) }
                return Response()
            }
        ) { recorder in
            try await Journey.run { journey in
                var providers = try settings(webhook: recorder.url("/hook"))
                providers.webhook.concurrency = 4
                let (daemon, endpoint) = try await journey.daemonAndEndpoint { [providers] in
                    $0.providers = providers
                    $0.drainTimeout = .seconds(3)
                }
                let start = try await journey.instant(in: 3600)
                for number in 0..<12 { try await endpoint.register("d\(number)", start) }
                for _ in 0..<2 { try await recorder.requests.next("an event that hangs") }
                try await journey.advance(to: start, -59)
                try await journey.wait(
                    until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = 12")
                await daemon.stop()
            }
        }
    }

    @Test("A receiver of batches gets arrays, each signed as a whole")
    func batches() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                var providers = try settings(webhook: recorder.url("/hook"))
                providers.webhook.batch = 10
                let endpoint = try await journey.daemon { [providers] in $0.providers = providers }
                let start = try await journey.instant(in: 3600)
                for number in 0..<12 { try await endpoint.register("d\(number)", start) }
                try await journey.advance(to: start, -59)
                try await journey.wait(
                    until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = 12")
                var reminders: Set<String> = []
                var numbers: [String: Int] = [:]
                for asked in recorder.requests.all {
                    try checkSignature(asked)
                    let events = try #require(try asked.json().array)
                    #expect((1...10).contains(events.count))
                    for event in events {
                        let id = try #require(event["id"].string)
                        numbers[id] = event["data"]["number"].int
                        #expect(event["timestamp"].string?.utf8.count == "2026-11-22T09:00:00.123Z".utf8.count)
                        if event["type"].string == "reminder" { reminders.insert(id) }
                    }
                }
                #expect(reminders.count == 12)
                #expect(Set(numbers.values).count == numbers.count)
                #expect(try recorder.requests.all.contains { try $0.json().array?.count ?? 0 > 1 })
            }
        }
    }

    @Test("A failed request is repeated unchanged")
    func retries() async throws {
        try await HTTPRecorder.run(
            answer: HTTPRecorder.Answer { asked in
                Response(asked.number == 0 ? .internalServerError : .ok)
            }
        ) { recorder in
            try await Journey.run(clock: .running) { journey in
                let providers = try settings(webhook: recorder.url("/hook"))
                let (daemon, endpoint) = try await journey.daemonAndEndpoint { $0.providers = providers }
                let start = try await journey.instant(in: 3600)
                try await endpoint.register("ada", start)
                let first = try await next("task.registered", at: recorder)
                try await journey.wait(
                    until: "(SELECT next_try_at > core.clock() AND attempts = 1 FROM core.delivery)")
                try await journey.move(by: 60)
                await daemon.clockWasSet()
                let second = try await next("task.registered", at: recorder)
                #expect(second.asked.headers["webhook-id"] == first.asked.headers["webhook-id"])
                #expect(second.asked.body == first.asked.body)
                try checkSignature(second.asked)
            }
        }
    }

    @Test("After a kill before the record, the next daemon sends again with the same id")
    func killed() async throws {
        try await HTTPRecorder.run(
            answer: HTTPRecorder.Answer { asked in
                if asked.number == 0 { try? await Task.sleep(for: .seconds(3600)) }
                return Response()
            }
        ) { recorder in
            try await Journey.run { journey in
                let flags = ["--webhook-url", recorder.url("/hook"), "--webhook-secret", Self.secretText]
                let first = try await journey.process(flags)
                let start = try await journey.instant(in: 3600)
                try await first.endpoint.register("ada", start)
                let sent = try await next("task.registered", at: recorder)
                await first.daemon.signal(SIGKILL)
                _ = try await first.daemon.waitForExit()
                let second = try await journey.process(flags)
                // Only the lease keeps the second daemon from sending.
                #expect(try await journey.count("core.delivery WHERE next_try_at > core.clock()") == 1)
                #expect(recorder.requests.all.count == 1)
                try await journey.move(by: 10)
                try await second.endpoint.register("bob", Instant(seconds: start.seconds + 60))
                let again = try await next("task.registered", at: recorder) { $0["startsAt"].string == "\(start)" }
                #expect(again.asked.headers["webhook-id"] == sent.asked.headers["webhook-id"])
                #expect(again.asked.body == sent.asked.body)
            }
        }
    }

    @Test("`check` reports for each provider whether its server answers")
    func check() async throws {
        let url = try await HTTPRecorder.run { recorder in
            let providers = try settings(webhook: recorder.url("/hook"), ntfy: recorder.url())
            let lines = await ProviderCheck.run(providers)
            #expect(lines.count == 3)
            #expect(lines.allSatisfy { if case .works = $0 { true } else { false } }, "\(lines)")
            return recorder.url("/hook")
        }
        let lines = await ProviderCheck.run(try settings(webhook: url))
        guard case .fails(let text) = lines.last else {
            Issue.record("\(lines)")
            return
        }
        #expect(text.hasPrefix("webhook: http://127.0.0.1:"))
        #expect(await ProviderCheck.run(ProviderSettings()).isEmpty)
    }
}
