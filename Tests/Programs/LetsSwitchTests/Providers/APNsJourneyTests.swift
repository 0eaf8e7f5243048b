import Foundation
import JourneyTestSupport
import ScheduleTestSupport
import Server
import TestSupport
import Testing
import Wire

@testable import Domain
@testable import Notifications
@testable import Settings

/// The way of a reminder from `POST /token` to a recorder behind nghttpx, which stands for Apple's server.
@Suite struct APNsJourneyTests {
    @Test("A reminder reaches the phone once and counts as delivered")
    func reminderReachesPhoneOnceAndCountsAsDelivered() async throws {
        try await PushRecorder.run { recorder in
            let authority = try await TestAuthority()
            let (settings, _) = try await APNsSettings.forTests(in: authority)
            let front = try await HTTP2Proxy.start(
                before: recorder.endpoint, identity: authority.issue(), HTTP2Proxy.accessLog)
            // At the first request Apple's server is busy.
            await recorder.answers.script([Response(.serviceUnavailable, headers: [HTTPField("Retry-After", "0")])])
            try await Journey.run(clock: .running) { journey in
                let endpoint = try await journey.daemon {
                    $0.providers.apns = settings
                    $0.providers.apns.url = front.url()
                    $0.providers.apns.caFile = authority.file
                }
                let token: TestJSON = ["deviceId": "anna", "token": "ABAD1DEA", "debug": false]
                #expect(try await endpoint.post("/token", token).status == 200)
                let start = try await journey.instant(in: 3600)
                try await endpoint.register("anna", start)
                let room = try await endpoint.register("ben", start, "Maths").socketId
                try await journey.advance(to: start, -50)
                let (first, second) = (try await recorder.next(), try await recorder.next())
                #expect(first.target == "/3/device/abad1dea")
                #expect(second.headers["apns-id"] == first.headers["apns-id"])
                #expect(second.headers["apns-collapse-id"] == room.uuidString.lowercased())
                #expect(second.headers["apns-expiration"] == "\(start.seconds)")
                #expect(try second.json()["partnerTask"] == "Maths")
                try await journey.wait(
                    until:
                        "SELECT state = 'delivered' FROM reminders.reminder JOIN schedule.task ON task.id = task_id"
                        + " WHERE device_id = 'anna'")
            }
        }
    }

    @Test("A token that Apple doesn't know is deleted")
    func tokenThatAppleDoesNotKnowIsDeleted() async throws {
        try await PushRecorder.run { recorder in
            let authority = try await TestAuthority()
            let (settings, _) = try await APNsSettings.forTests(in: authority)
            let front = try await HTTP2Proxy.start(
                before: recorder.endpoint, identity: authority.issue(), HTTP2Proxy.accessLog)
            await recorder.answers.always(.json(Array(#"{"reason":"Unregistered"}"#.utf8), status: .gone))
            try await Journey.run { journey in
                let endpoint = try await journey.daemon {
                    $0.providers.apns = settings
                    $0.providers.apns.url = front.url()
                    $0.providers.apns.caFile = authority.file
                }
                let token: TestJSON = ["deviceId": "anna", "token": "ABAD1DEA", "debug": true]
                #expect(try await endpoint.post("/token", token).status == 200)
                let start = try await journey.instant(in: 3600)
                try await endpoint.register("anna", start)
                try await journey.advance(to: start, -50)
                try await journey.wait(until: "SELECT count(*) = 0 FROM core.address")
            }
        }
    }

    @Test("Incomplete settings are refused")
    func settingsThatAreNotWholeAreRefused() throws {
        let all = [
            "--apns-key", "/nowhere/AuthKey.p8", "--apns-key-id", "ABC123DEFG", "--apns-team-id", "DEF123GHIJ",
            "--apns-topic", "org.example.app",
        ]
        let parser = CommandLineParser(environment: [:])
        guard case .serve(let configuration) = try parser.parse(all) else {
            Issue.record("no service")
            return
        }
        #expect(configuration.providers.names == [.apns])
        for start in stride(from: 0, to: all.count, by: 2) {
            var part = all
            part.removeSubrange(start..<(start + 2))
            #expect(throws: UsageError.self) { try parser.parse(part) }
        }
        for wrong in [
            ["--apns-key-id", "short"], ["--apns-team-id", "DEF123GHI!"], ["--apns-topic", "a b"], ["--apns-url", "x"],
            ["--web-push-contact", "ops@example.org"], ["--web-push-contact", "mailto:"],
            ["--web-push-contact", "http://example.org"],
        ] {
            #expect(throws: UsageError.self, "\(wrong)") { try parser.parse(all + wrong) }
        }
        #expect(throws: APNsKeyError.self) { try APNsProvider(configuration.providers.apns) }
    }
}
