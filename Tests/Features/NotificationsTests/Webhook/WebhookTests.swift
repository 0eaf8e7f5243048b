import FoundationEssentials
import HTTPClient
import TestSupport
import Testing
import Wire

@testable import Notifications

/// The webhook's messages.
@Suite struct WebhookTests {
    @Test("The signature matches the reference libraries' test")
    func vector() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let message = WebhookMessage(id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: Array(#"{"test": 2432232314}"#.utf8))
        let fields = try message.fields(signedWith: [secret], at: 1_614_265_330)
        #expect(
            fields == [
                HTTPField("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"), HTTPField("webhook-timestamp", "1614265330"),
                HTTPField("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
            ])
    }

    @Test("During a rotation there is a signature for each secret")
    func rotation() throws {
        let secrets = try ["A", "B"].map {
            try #require(WebhookSecret("whsec_" + String(repeating: $0, count: 32)))
        }
        let fields = try WebhookMessage(.sample()).fields(signedWith: secrets, at: 1)
        let signatures = try #require(fields.last?.value.split(separator: " "))
        #expect(signatures.count == 2)
        #expect(Set(signatures).count == 2)
        #expect(signatures.allSatisfy { $0.hasPrefix("v1,") })
    }

    @Test("A body is the same on every attempt")
    func body() {
        let delivery = Delivery.sample(event: "room.closed", payload: #"{"roomId":"X"}"#)
        #expect(
            String(decoding: WebhookMessage(delivery).body, as: UTF8.self)
                == #"{"type":"room.closed","timestamp":"2026-11-22T09:00:00.000Z","data":{"roomId":"X"}}"#)
        let again = Delivery.sample(event: "room.closed", attempt: 5, payload: #"{"roomId":"X"}"#)
        #expect(WebhookMessage(again) == WebhookMessage(delivery))
    }

    @Test("Several events are sent as an array, each with its id")
    func batch() throws {
        let deliveries = [
            Delivery.sample(event: "room.closed", id: 1), .sample(event: "room.opened", attempt: 2, id: 2),
        ]
        let message = WebhookMessage(together: deliveries, id: UUID())
        let json = try TestJSON(parsing: message.body)
        #expect(json.array?.map { $0["type"].string } == ["room.closed", "room.opened"])
        #expect(json.array?.allSatisfy { $0["id"].string == deliveries[0].messageId.uuidString } == true)
        #expect(message.id != deliveries[0].messageId.uuidString)
    }

    @Test(
        "A secret has a prefix and 24 to 64 bytes in base64",
        arguments: [
            ("whsec_" + String(repeating: "A", count: 32), true), ("whsec_" + String(repeating: "A", count: 28), false),
            ("whsec_" + String(repeating: "A", count: 88), false), (String(repeating: "A", count: 32), false),
            ("whsec_" + String(repeating: "!", count: 32), false), ("whsec_", false),
        ])
    func secrets(_ text: String, _ isOne: Bool) {
        #expect((WebhookSecret(text) != nil) == isOne)
        #expect(WebhookSecret(text).map { "\($0)" } != text)
    }

    @Test(
        "Each response leads to its outcome",
        arguments: [
            (200, nil, AttemptOutcome.accepted), (204, nil, .accepted),
            (301, nil, .retry(after: nil, "status 301")), (400, nil, .retry(after: nil, "status 400")),
            (410, nil, .gone("status 410")), (429, "17", .retry(after: .seconds(17), "status 429")),
            (503, "tomorrow", .retry(after: nil, "status 503")), (500, nil, .retry(after: nil, "status 500")),
        ])
    func outcomes(_ status: Int, _ retryAfter: String?, _ outcome: AttemptOutcome) {
        let headers = retryAfter.map { [HTTPField("retry-after", $0)] } ?? []
        #expect(WebhookProvider.outcome(of: OutgoingResponse(status: status, headers: headers)) == outcome)
    }
}
