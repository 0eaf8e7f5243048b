import Crypto
import Foundation
import ScheduleTestSupport
import Server
import TestSupport
import Testing
import Wire

@testable import Notifications

/// The provider sends to a recorder behind nghttpx, which supplies HTTP/2 and TLS. The certificate is from the test's
/// own authority.
@Suite struct APNsProviderTests {
    private struct World: Sendable {
        let provider: APNsProvider
        let recorder: PushRecorder
        let front: HTTP2Proxy
        let verifier: ES256Verifier
        let authority: TestAuthority
    }

    private static let now = 1_795_337_940

    private static func run(_ body: (World) async throws -> Void) async throws {
        try await PushRecorder.run { recorder in
            let authority = try await TestAuthority()
            let (settings, verifier) = try await APNsSettings.forTests(in: authority)
            let front = try await HTTP2Proxy.start(
                before: recorder.endpoint, identity: authority.issue(), HTTP2Proxy.accessLog)
            var trusting = settings
            trusting.url = front.url()
            trusting.caFile = authority.file
            let provider = try #require(try APNsProvider(trusting, now: { now }))
            try await body(
                World(provider: provider, recorder: recorder, front: front, verifier: verifier, authority: authority))
            await provider.shutdown()
        }
    }

    private static let delivery = Delivery.pushed(
        .apns, address: "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
        details: #"{"sandbox":false}"#)

    private static func refusal(_ status: Int, _ reason: String, _ more: String = "") -> Response {
        .json(Array(#"{"reason":"\#(reason)"\#(more)}"#.utf8), status: HTTPStatus(code: status))
    }

    @Test("A reminder is sent over HTTP/2 in Apple's format")
    func reminderIsSentOverHTTP2InApplesFormat() async throws {
        try await Self.run { world in
            #expect(await world.provider.send(Self.delivery) == .accepted)
            let received = try await world.recorder.next()
            #expect(received.target == "/3/device/\(Self.delivery.address)")
            let token = try #require(received.headers["authorization"])
            #expect(token.hasPrefix("bearer "))
            let (header, claims) = try world.verifier.decode(String(token.dropFirst(7)))
            #expect(header == ["alg": "ES256", "kid": "ABC123DEFG"])
            #expect(claims == ["iss": "DEF123GHIJ", "iat": .number(Double(Self.now))])
            for (name, value) in [
                ("apns-topic", "org.example.app"), ("apns-push-type", "alert"), ("apns-priority", "10"),
                ("apns-expiration", "1795338000"), ("apns-id", "b00970d4-bcf1-4754-9be9-59f14da249b1"),
                ("apns-collapse-id", "25ebeb34-4c7c-4043-8eac-5cfb5a70ca52"),
            ] {
                #expect(received.headers[name] == value, "\(name)")
            }
            #expect(try received.json()["aps"]["alert"]["title"] == "History")
            try await eventually("nghttpx's log") { world.front.requests.count == 1 }
            #expect(world.front.requests.allSatisfy { $0.protocol == "h2" })
        }
    }

    @Test("Many reminders share a connection and a token")
    func manyRemindersShareAConnectionAndAToken() async throws {
        try await Self.run { world in
            let accepted = await withTaskGroup(of: AttemptOutcome.self) { group in
                for _ in 0..<300 { group.addTask { await world.provider.send(Self.delivery) } }
                return await group.reduce(into: 0) { $0 += $1 == .accepted ? 1 : 0 }
            }
            #expect(accepted == 300)
            try await eventually("nghttpx's log") { world.front.requests.count == 300 }
            #expect(Set(world.front.requests.map(\.port)).count == 1)
            #expect(Set(world.recorder.received.all.map { $0.headers["authorization"] }).count == 1)
        }
    }

    /// Sends each response over the network. `APNsAttemptTests` tests how responses are handled.
    @Test("Apple's responses are read")
    func whatAppleAnswersIsRead() async throws {
        try await Self.run { world in
            func outcome(_ responses: Response...) async -> AttemptOutcome {
                await world.recorder.answers.script(responses)
                return await world.provider.send(Self.delivery)
            }
            #expect(await outcome(Self.refusal(400, "BadTopic")) == .refused("status 400 BadTopic"))
            #expect(
                await outcome(Self.refusal(410, "Unregistered", #","timestamp":1795339000000"#))
                    == .gone("status 410 Unregistered"))
            #expect(
                await outcome(Self.refusal(410, "Unregistered", #","timestamp":1795320000000"#))
                    == .retry(after: nil, "status 410 Unregistered"))
            #expect(
                await outcome(Self.refusal(403, "InvalidProviderToken"))
                    == .paused(for: .seconds(300), "status 403 InvalidProviderToken"))
            let busy = Response(.serviceUnavailable, headers: [HTTPField("Retry-After", "3")])
            #expect(await outcome(busy) == .retry(after: .seconds(3), "status 503"))
            #expect(await outcome(Response.text("<html>", status: .badGateway)) == .retry(after: nil, "status 502"))
            // First a token that the other environment of Apple accepts, then a token that neither accepts.
            #expect(await outcome(Self.refusal(400, "BadDeviceToken")) == .accepted)
            let bad = Self.refusal(400, "BadDeviceToken")
            #expect(await outcome(bad, bad) == .gone("status 400 BadDeviceToken"))
            // The provider token is younger than 20 minutes, so a new one wouldn't help.
            #expect(
                await outcome(Self.refusal(403, "ExpiredProviderToken"))
                    == .paused(
                        for: .seconds(300), "status 403 ExpiredProviderToken: check this machine's clock"))
        }
    }

    @Test("A payload that is too large is sent again in a shorter form")
    func payloadThatIsTooLargeIsSentAgainInShorterForm() async throws {
        try await Self.run { world in
            await world.recorder.answers.script([Self.refusal(413, "PayloadTooLarge")])
            let title = String(repeating: "\u{1}", count: 200)
            let delivery = Delivery.pushed(
                .apns, address: "00", details: #"{"sandbox":true}"#, title: title, partnerTask: title)
            #expect(await world.provider.send(delivery) == .accepted)
            let sizes = [try await world.recorder.next().body.count, try await world.recorder.next().body.count]
            #expect(sizes[0] <= 4096 && sizes[0] > 2048)
            #expect(sizes[1] <= 2048)
        }
    }

    @Test("A server with an untrusted certificate receives nothing")
    func serverWithUntrustedCertificateReceivesNothing() async throws {
        try await Self.run { world in
            let stranger = try await TestAuthority()
            var (settings, _) = try await APNsSettings.forTests(in: stranger)
            settings.url = world.front.url()
            settings.caFile = stranger.file
            let provider = try #require(try APNsProvider(settings))
            let outcome = await provider.send(Self.delivery)
            guard case .retry(nil, let reason) = outcome, reason.hasPrefix("TLS failed") else {
                Issue.record("\(outcome)")
                return
            }
            #expect(world.recorder.received.all.isEmpty)
            await provider.shutdown()
        }
    }
}
