import Foundation
import JourneyTestSupport
import ScheduleTestSupport
import Server
import TestSupport
import Testing
import Wire

@testable import Notifications

/// The address of a browser or a calendar is a secret. With it anybody can send to the browser or read the calendar.
@Suite struct PushSecrecyTests {
    @Test("Neither the log nor the metrics have an endpoint's address")
    func neitherLogNorMetricsHaveEndpointsAddress() async throws {
        try await PushRecorder.run { service in
            await service.answers.script([
                Response.text("no", status: .internalServerError), Response.text("no", status: .badRequest),
            ])
            try await Journey.run(clock: .running) { journey in
                let (daemon, endpoint) = try await journey.process([
                    "--log-level", "debug", "--log-format", "json", "--web-push-contact", "mailto:ops@example.org",
                    "--web-push-private",
                ])
                let browser = try WebPushReceiver()
                let answer = try await endpoint.post(
                    "/push/subscription",
                    ["deviceId": "qzxjanna", "subscription": browser.subscription(service.url + "/hook/qzxjaddress")])
                #expect(answer.status == 200)
                let calendar = try #require(
                    try await endpoint.post("/calendar", ["deviceId": "qzxjanna"]).json()["url"].string)
                #expect(try await endpoint.get(calendar).status == 200)
                let start = try await journey.instant(in: 3600)
                try await endpoint.register("qzxjanna", start, "qzxjtitle")
                try await journey.advance(to: start, -50)
                // The first answer causes a retry. The second ends the delivery.
                _ = try await service.next()
                _ = try await service.next()
                try await journey.wait(until: "SELECT count(*) = 0 FROM core.delivery")
                let metrics = try await endpoint.get("/metrics").text
                try await daemon.terminate()
                #expect(daemon.output.contains("status 400"))
                let auth = Base64.encodeForURL(browser.secret)
                for secret in ["qzxj", String(calendar.dropFirst(10).dropLast(4)), auth] {
                    #expect(!daemon.output.localizedCaseInsensitiveContains(secret), "\(secret)")
                    #expect(!metrics.localizedCaseInsensitiveContains(secret), "\(secret)")
                }
            }
        }
    }

    @Test("`check` reports whether Apple accepts the key")
    func checkSaysWhetherTheKeyIsOneAndAppleIsThere() async throws {
        let authority = try await TestAuthority()
        try await PushRecorder.run { recorder in
            var settings = ProviderSettings()
            settings.apns = try await APNsSettings.forTests(in: authority).0
            settings.apns.url = recorder.url
            settings.webPush.contact = "mailto:ops@example.org"
            var lines = await ProviderCheck.run(settings)
            #expect(lines.count == 4)
            #expect(lines.allSatisfy { if case .works = $0 { true } else { false } }, "\(lines)")
            #expect(lines.contains(.works("apns: key ABC123DEFG of team DEF123GHIJ, for org.example.app")))
            settings.apns.keyFile = authority.file
            settings.apns.url = "http://127.0.0.1:9"
            lines = await ProviderCheck.run(settings)
            let failures = lines.filter { if case .fails = $0 { true } else { false } }
            #expect(failures.count == 2, "\(lines)")
        }
    }
}
