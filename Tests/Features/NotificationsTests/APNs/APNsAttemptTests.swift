import Testing

@testable import Notifications

/// Apple's table of responses, row by row.
@Suite struct APNsAttemptTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let reason: String
        let step: APNsAttempt.Step

        init(_ status: Int, _ reason: String, _ step: APNsAttempt.Step) {
            (self.status, self.reason, self.step) = (status, reason, step)
        }

        var testDescription: String { "\(status) \(reason)" }
    }

    private static func description(_ status: Int, _ reason: String) -> String { "status \(status) \(reason)" }

    static let rows: [Row] =
        [Row(200, "", .done(.accepted)), Row(400, "BadDeviceToken", .again), Row(413, "PayloadTooLarge", .again)]
        + [
            "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic", "DeviceTokenNotForTopic",
            "DuplicateHeaders", "InvalidPushType", "MissingDeviceToken", "MissingTopic", "PayloadEmpty",
            "TopicDisallowed", "SomethingNew",
        ].map { Row(400, $0, .done(.refused(description(400, $0)))) }
        + [Row(400, "IdleTimeout", .done(.retry(after: nil, description(400, "IdleTimeout"))))]
        + [
            "BadCertificate", "BadCertificateEnvironment", "Forbidden", "InvalidProviderToken", "MissingProviderToken",
            "UnrelatedKeyIdInToken",
        ].map { Row(403, $0, .done(.paused(for: .seconds(300), description(403, $0)))) }
        + [
            Row(
                403, "ExpiredProviderToken",
                .renewToken(
                    otherwise: .paused(
                        for: .seconds(300), "status 403 ExpiredProviderToken: check this machine's clock"))),
            Row(
                403, "BadEnvironmentKeyIdInToken",
                .done(.refused(description(403, "BadEnvironmentKeyIdInToken")))),
            Row(404, "BadPath", .done(.refused(description(404, "BadPath")))),
            Row(405, "MethodNotAllowed", .done(.refused(description(405, "MethodNotAllowed")))),
            Row(410, "Unregistered", .done(.gone(description(410, "Unregistered")))),
            Row(410, "ExpiredToken", .done(.gone(description(410, "ExpiredToken")))),
            Row(
                429, "TooManyProviderTokenUpdates",
                .done(.paused(for: .seconds(10), description(429, "TooManyProviderTokenUpdates")))),
            Row(429, "TooManyRequests", .done(.retry(after: .seconds(5), description(429, "TooManyRequests")))),
            Row(500, "InternalServerError", .done(.retry(after: nil, description(500, "InternalServerError")))),
            Row(503, "ServiceUnavailable", .done(.retry(after: nil, description(503, "ServiceUnavailable")))),
            Row(503, "Shutdown", .done(.retry(after: nil, description(503, "Shutdown")))),
            Row(302, "", .done(.refused("status 302"))), Row(502, "", .done(.retry(after: nil, "status 502"))),
        ]

    @Test(
        "Every response leads to its step",
        arguments: rows)
    func everyResponseLeadsToItsStep(_ row: Row) {
        var attempt = APNsAttempt(isSandbox: false)
        let answer = APNsResponse(status: row.status, reason: row.reason)
        #expect(attempt.next(after: answer, registeredAt: 1000) == row.step)
    }

    @Test(
        "A bad token is tried at the other host once",
        arguments: [false, true])
    func badTokenIsTriedOnceAtOtherHostAndThenRemoved(_ isSandbox: Bool) {
        var attempt = APNsAttempt(isSandbox: isSandbox)
        let answer = APNsResponse(status: 400, reason: "BadDeviceToken")
        #expect(attempt.next(after: answer, registeredAt: 0) == .again)
        #expect(attempt.isSandbox == !isSandbox)
        #expect(attempt.next(after: answer, registeredAt: 0) == .done(.gone("status 400 BadDeviceToken")))
    }

    @Test("A bad token is removed if the key isn't valid for the other host")
    func badTokenIsRemovedIfKeyIsNotValidForOtherHost() {
        var attempt = APNsAttempt(isSandbox: false)
        #expect(attempt.next(after: APNsResponse(status: 400, reason: "BadDeviceToken"), registeredAt: 0) == .again)
        #expect(
            attempt.next(after: APNsResponse(status: 403, reason: "BadEnvironmentKeyIdInToken"), registeredAt: 0)
                == .done(.gone("status 403 BadEnvironmentKeyIdInToken")))
    }

    @Test("A provider token is renewed once")
    func providerTokenIsRenewedOnce() {
        var attempt = APNsAttempt(isSandbox: false)
        let answer = APNsResponse(status: 403, reason: "ExpiredProviderToken")
        guard case .renewToken = attempt.next(after: answer, registeredAt: 0) else {
            Issue.record("it isn't renewed")
            return
        }
        #expect(
            attempt.next(after: answer, registeredAt: 0)
                == .done(.paused(for: .seconds(300), "status 403 ExpiredProviderToken")))
    }

    @Test("A payload is shortened once")
    func aPayloadIsCutOnce() {
        var attempt = APNsAttempt(isSandbox: false)
        let answer = APNsResponse(status: 413, reason: "PayloadTooLarge")
        #expect(attempt.maxPayloadBytes == 4096)
        #expect(attempt.next(after: answer, registeredAt: 0) == .again)
        #expect(attempt.maxPayloadBytes == 2048)
        #expect(attempt.next(after: answer, registeredAt: 0) == .done(.refused("status 413 PayloadTooLarge")))
    }

    /// Apple's time is in milliseconds, ours in seconds.
    @Test(
        "A token that was registered after Apple's timestamp is kept",
        arguments: [(999.0, true), (1000.0, true), (1000.001, false), (2000.0, false)])
    func tokenThatWasRegisteredAfterApplesTimestampIsKept(_ registeredAt: Double, _ isGone: Bool) {
        var attempt = APNsAttempt(isSandbox: false)
        let step = attempt.next(
            after: APNsResponse(status: 410, reason: "Unregistered", timestamp: 1_000_000), registeredAt: registeredAt)
        let description = "status 410 Unregistered"
        #expect(step == .done(isGone ? .gone(description) : .retry(after: nil, description)))
    }

    @Test("Apple's Retry-After in seconds is obeyed")
    func applesRetryAfterInSecondsIsObeyed() {
        for (status, reason) in [(429, "TooManyRequests"), (503, "ServiceUnavailable")] {
            var attempt = APNsAttempt(isSandbox: false)
            let answer = APNsResponse(status: status, reason: reason, retryAfter: .seconds(17))
            #expect(
                attempt.next(after: answer, registeredAt: 0)
                    == .done(.retry(after: .seconds(17), "status \(status) \(reason)")))
        }
    }
}
