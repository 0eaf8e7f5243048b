import Domain
import Server
import Wire

/// The descriptions of the routes that register a device's addresses.
enum AddressDescriptions {
    private static let done = RouteDescription.Answer.json("Done.", .emptyObject)

    static let token = RouteDescription(
        "Store a device's push token",
        body: .init(
            .object([
                .member("deviceId", .device),
                .member("token", .text(length: 2...TokenRequest.maximumBytes * 2, pattern: "^([0-9a-fA-F]{2})+$")),
                .member("debug", .described("Whether the token belongs to Apple's sandbox.", .boolean)),
            ]),
            example:
                #"{"deviceId":"anna-7c1f","token":"00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0","debug":false}"#
        ), answers: [done, .storageFull])

    static let ntfyOn = RouteDescription(
        "Switch on reminders by ntfy",
        body: .init(.object([.member("deviceId", .device)]), example: #"{"deviceId":"anna-7c1f"}"#),
        answers: [
            .json(
                "The topic to subscribe to.",
                .object([.member("topic", .text()), .member("url", .text(format: "uri"))])),
            .storageFull,
        ], example: "/ntfy")

    static let ntfyOff = RouteDescription(
        "Switch off reminders by ntfy", parameters: [.device(.device)], answers: [done],
        example: "'/ntfy?deviceId=anna-7c1f' -X DELETE")

    private static let off = RouteDescription.Answer.refusal(
        404, "web_push_off", meaning: "This server doesn't support Web Push.")

    static let pushKey = RouteDescription(
        "Get the key for a browser's push subscription",
        answers: [
            .json("The public key, a point of P-256 in base64url.", .object([.member("publicKey", .text())])), off,
        ], example: "/push/key")

    static let subscribe = RouteDescription(
        "Switch on reminders by Web Push",
        body: .init(
            .object([
                .member("deviceId", .device),
                .member(
                    "subscription",
                    .described(
                        "The result of the browser's PushSubscription.toJSON().",
                        .object([
                            .member("endpoint", .text(length: 1...ProviderURL.maximumBytes, format: "uri")),
                            .member("keys", .object([.member("p256dh", .text()), .member("auth", .text())])),
                        ]))),
            ]),
            example: """
                {"deviceId":"anna-7c1f","subscription":{"endpoint":"https://push.example.org/send/eH4fp1",\
                "keys":{"p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",\
                "auth":"BTBZMqHH6r4Tts7J_aSIgg"}}}
                """), answers: [done, off, .storageFull])

    static let unsubscribe = RouteDescription(
        "Switch off reminders by Web Push",
        parameters: [.device(.device), .query("endpoint", "The subscription's endpoint.", .text())], answers: [done])
}
