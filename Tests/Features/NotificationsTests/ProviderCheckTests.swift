import HTTPClient
import ScheduleTestSupport
import Server
import TestSupport
import Testing
import Wire

@testable import Notifications

/// The output of `check` about providers.
@Suite struct ProviderCheckTests {
    private typealias Verdict = ProviderCheck.Verdict

    private func isWorking(_ verdict: Verdict) -> Bool? {
        switch verdict {
        case .works: true
        case .warns: nil
        case .fails: false
        }
    }

    @Test(
        "A webhook that doesn't support HEAD passes",
        arguments: [
            (200, true), (204, true), (405, true), (501, true), (401, true), (404, nil), (410, nil), (500, nil),
            (502, nil),
        ] as [(Int, Bool?)])
    func webhook(_ status: Int, _ works: Bool?) {
        #expect(isWorking(ProviderCheck.webhook(OutgoingResponse(status: status))) == works)
    }

    @Test(
        "An ntfy server must accept the token",
        arguments: [(200, true), (401, false), (403, false), (404, nil), (503, nil)] as [(Int, Bool?)])
    func ntfy(_ status: Int, _ works: Bool?) {
        #expect(isWorking(ProviderCheck.ntfy(OutgoingResponse(status: status))) == works)
    }

    @Test(
        "Apple must accept the key, but not the device",
        arguments: [
            (400, "BadDeviceToken", true), (403, "InvalidProviderToken", false), (400, "TopicDisallowed", false),
            (403, "ExpiredProviderToken", false), (403, "BadEnvironmentKeyIdInToken", nil), (503, "Shutdown", nil),
            (429, "TooManyProviderTokenUpdates", nil), (404, "BadPath", false),
        ] as [(Int, String, Bool?)])
    func apns(_ status: Int, _ reason: String, _ works: Bool?) {
        #expect(isWorking(ProviderCheck.apns(APNsResponse(status: status, reason: reason))) == works)
    }

    @Test("A server that responds with a refusal fails the check")
    func refused() async throws {
        let authority = try await TestAuthority()
        try await PushRecorder.run { recorder in
            await recorder.answers.always(
                .json(Array(#"{"reason":"InvalidProviderToken"}"#.utf8), status: HTTPStatus(code: 403)))
            var settings = ProviderSettings()
            settings.ntfy.server = recorder.url
            settings.ntfy.token = "tk_unknown"
            settings.apns = try await APNsSettings.forTests(in: authority).0
            settings.apns.url = recorder.url
            settings.webPush.contact = "mailto:ops@example.org"
            settings.webPush.caFile = settings.apns.keyFile
            let failures = await ProviderCheck.run(settings).compactMap { line in
                if case .fails(let text) = line { text } else { nil }
            }
            #expect(failures.count == 3, "\(failures)")
            #expect(failures.contains { $0.hasPrefix("--web-push-ca") })
            #expect(failures.contains { $0.hasPrefix("ntfy") && $0.contains("token") })
            #expect(failures.contains { $0.hasPrefix("apns") && $0.hasSuffix("InvalidProviderToken") })
            let asked = try await recorder.received.next { $0.method == "POST" }
            #expect(asked.target == "/3/device/" + String(repeating: "0", count: 64))
            let account = try await recorder.received.next { $0.method == "GET" }
            #expect(account.target == "/v1/account")
            #expect(account.headers["authorization"] == "Bearer tk_unknown")
        }
    }
}
