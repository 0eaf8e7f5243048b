import Crypto
import Foundation
import JourneyTestSupport
import Server
import TestSupport
import Testing
import Wire

@testable import Notifications
@testable import Settings

/// The way of a reminder from a browser's subscription to the decrypted text, with a push service on this machine.
@Suite struct WebPushJourneyTests {
    private static func configure(_ configuration: inout Configuration) {
        configuration.providers.webPush.contact = "mailto:ops@example.org"
        configuration.providers.webPush.allowsPrivateAddresses = true
    }

    private static func subscribe(
        _ device: String, _ browser: WebPushReceiver, _ url: String, at endpoint: ClientEndpoint
    ) async throws {
        let answer = try await endpoint.post(
            "/push/subscription", ["deviceId": .string(device), "subscription": browser.subscription(url)])
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.text == "{}")
    }

    @Test("A reminder reaches a browser, and only that browser can decrypt it")
    func reminderReachesBrowser() async throws {
        try await PushRecorder.run { service in
            await service.answers.always(Response(.created))
            try await Journey.run { journey in
                let endpoint = try await journey.daemon(Self.configure)
                let browser = try WebPushReceiver()
                try await Self.subscribe("anna", browser, "\(service.url)/hook/anna", at: endpoint)
                let start = try await journey.instant(in: 3600)
                let task = try await endpoint.register("anna", start)
                try await endpoint.register("ben", start, "Maths")
                try await journey.advance(to: start, -50)
                let received = try await service.next()
                let reminder = try TestJSON(parsing: browser.decrypt(received.body))
                #expect(reminder["type"] == "reminder")
                #expect(reminder["taskId"].string == task.id.uuidString)
                #expect(reminder["partnerTask"] == "Maths")
                #expect(received.target == "/hook/anna")
                #expect(received.headers["content-encoding"] == "aes128gcm")
                #expect(received.headers["urgency"] == "high")
                let ttl = try #require(received.headers["ttl"].flatMap { Int($0) })
                #expect((0...50).contains(ttl))
                let topic = try #require(received.headers["topic"])
                #expect(topic.utf8.count <= 32 && Base64.decode(topic) != nil)
                try await journey.wait(
                    until:
                        "SELECT state = 'delivered' FROM reminders.reminder JOIN schedule.task ON task.id = task_id"
                        + " WHERE device_id = 'anna'")
                #expect(try await journey.count("core.delivery") == 0)
            }
        }
    }

    /// `http-ece` decrypts the message, and `py-vapid` and `cryptography` verify the sender. These libraries are
    /// independent of this project.
    @Test(
        "Another implementation decrypts the message and verifies the sender",
        .enabled(if: PythonPackages.ofTests.areInstalled, Comment(rawValue: PythonPackages.ofTests.hint)))
    func anotherImplementationDecryptsMessageAndVerifiesSender() async throws {
        try await PushRecorder.run { service in
            try await Journey.run { journey in
                let endpoint = try await journey.daemon(Self.configure)
                let browser = try WebPushReceiver()
                let key = try #require(try await endpoint.get("/push/key").json()["publicKey"].string)
                #expect(Base64.decode(key)?.count == 65)
                try await Self.subscribe("anna", browser, "\(service.url)/hook/anna", at: endpoint)
                let start = try await journey.instant(in: 3600)
                try await endpoint.register("anna", start, "Übung — 語🎹")
                try await journey.advance(to: start, -50)
                let received = try await service.next()
                let answer = try await PythonPackages.ofTests.run(
                    Self.program,
                    [
                        "body": .string(Base64.encode(received.body)), "auth": .string(Base64.encode(browser.secret)),
                        "scalar": .string(Base64.encode(try browser.key.scalar())),
                        "authorization": .string(received.headers["authorization"] ?? ""),
                    ])
                #expect(try TestJSON(parsing: Array((answer["text"].string ?? "").utf8))["title"] == "Übung — 語🎹")
                #expect(answer["verified"] == true)
                #expect(answer["key"].string == key)
                #expect(answer["claims"]["aud"].string == service.url)
                #expect(answer["claims"]["sub"] == "mailto:ops@example.org")
                let ahead = try #require(answer["claims"]["exp"].number) - Date().timeIntervalSince1970
                #expect(ahead > 3600 && ahead <= 86_400)
            }
        }
    }

    private static let program = """
        import base64, json, sys
        import http_ece
        from cryptography.hazmat.primitives.asymmetric import ec
        from py_vapid.jwt import decode
        from py_vapid.utils import b64urldecode
        given = json.loads(sys.stdin.readline())
        scalar = int.from_bytes(base64.b64decode(given["scalar"]), "big")
        text = http_ece.decrypt(
            base64.b64decode(given["body"]), private_key=ec.derive_private_key(scalar, ec.SECP256R1()),
            auth_secret=base64.b64decode(given["auth"]), version="aes128gcm")
        scheme, token, key = given["authorization"].split(" ")
        assert scheme == "vapid" and token[:2] == "t=" and token[-1] == "," and key[:2] == "k="
        claims = decode(token[2:-1], key[2:])
        print(json.dumps({
            "text": text.decode(), "verified": claims is not None, "claims": claims, "key": key[2:]}))
        """

    @Test("A subscription that no longer exists is deleted")
    func subscriptionThatIsGoneIsDeleted() async throws {
        try await PushRecorder.run { service in
            await service.answers.always(Response(.gone))
            try await Journey.run(clock: .running) { journey in
                let endpoint = try await journey.daemon(Self.configure)
                let browser = try WebPushReceiver()
                for number in 0..<12 {
                    try await Self.subscribe("anna", browser, "\(service.url)/hook/\(number)", at: endpoint)
                }
                #expect(try await journey.count("core.address") == 10)
                let start = try await journey.instant(in: 3600)
                try await endpoint.register("anna", start)
                try await journey.advance(to: start, -50)
                try await journey.wait(until: "SELECT count(*) = 0 FROM core.address")
                let asked = Set(service.received.all.map(\.target))
                #expect(asked == Set((2..<12).map { "/hook/\($0)" }))
            }
        }
    }

    @Test("The key is kept and shared by daemons")
    func keyIsKeptAndSharedByDaemons() async throws {
        try await Journey.run { journey in
            var keys: Set<String> = []
            for _ in 0..<3 {
                let endpoint = try await journey.daemon(Self.configure)
                keys.insert(try #require(try await endpoint.get("/push/key").json()["publicKey"].string))
            }
            #expect(keys.count == 1)
            #expect(try await journey.count("core.secret WHERE name = 'vapid'") == 1)
        }
    }

    @Test("Only its device can remove a subscription")
    func onlyItsDeviceCanRemoveSubscription() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon(Self.configure)
            let url = "https://push.example.net/push/a%20b?c=d&e"
            try await Self.subscribe("anna", try WebPushReceiver(), url, at: endpoint)
            let query = "endpoint=https%3A%2F%2Fpush.example.net%2Fpush%2Fa%2520b%3Fc%3Dd%26e"
            func delete(_ target: String) async throws -> Int {
                try await HTTPTestClient.request(at: endpoint, "DELETE", target).status
            }
            #expect(try await delete("/push/subscription?deviceId=ben&\(query)") == 200)
            #expect(try await journey.count("core.address") == 1)
            #expect(try await delete("/push/subscription?deviceId=anna&\(query)") == 200)
            #expect(try await journey.count("core.address") == 0)
            #expect(try await delete("/push/subscription?deviceId=anna") == 400)
        }
    }

    @Test("An invalid subscription is refused by its member")
    func invalidSubscriptionIsRefusedByItsMember() async throws {
        try await Journey.run { journey in
            let strict = try await journey.daemon { $0.providers.webPush.contact = "mailto:ops@example.org" }
            let browser = try WebPushReceiver()
            let point = Base64.encodeForURL(browser.key.publicPoint)
            let auth = Base64.encodeForURL(browser.secret)
            var off = browser.key.publicPoint
            off[64] ^= 1
            let url = "https://push.example.net/x"
            let refused: [(String, String, String, String)] = [
                ("endpoint", "http://push.example.net/x", point, auth), ("endpoint", "ftp://x", point, auth),
                ("endpoint", "https://user:word@push.example.net/x", point, auth),
                ("endpoint", url + "/" + String(repeating: "x", count: 2048), point, auth),
                ("p256dh", url, Base64.encodeForURL(off), auth), ("p256dh", url, String(point.dropLast(4)), auth),
                ("p256dh", url, "%", auth), ("auth", url, point, String(auth.dropLast(2))), ("auth", url, point, ""),
            ]
            for (member, endpoint, point, auth) in refused {
                let answer = try await strict.post(
                    "/push/subscription",
                    [
                        "deviceId": "anna",
                        "subscription": [
                            "endpoint": .string(endpoint), "keys": ["p256dh": .string(point), "auth": .string(auth)],
                        ],
                    ])
                #expect(answer.status == 400)
                #expect(answer.text.contains("subscription.") && answer.text.contains(member), "\(answer.text)")
            }
            for body: TestJSON in [
                ["deviceId": "anna"], ["deviceId": "anna", "subscription": "x"],
                ["deviceId": "anna", "subscription": [:]],
                ["subscription": browser.subscription(url)],
            ] {
                #expect(try await strict.post("/push/subscription", body).status == 400)
            }
            #expect(try await journey.count("core.address") == 0)
        }
    }

    @Test("Without a contact there is no Web Push")
    func withoutContactThereIsNoWebPush() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let request: TestJSON = [
                "deviceId": "anna", "subscription": try WebPushReceiver().subscription("https://push.example.net/x"),
            ]
            for answer in [try await endpoint.get("/push/key"), try await endpoint.post("/push/subscription", request)]
            {
                #expect(answer.status == 404)
                #expect(try answer.json()["code"] == "web_push_off")
            }
        }
    }
}
