import Delivery
import Domain
import Server
import Wire

/// The descriptions of the routes that register a device's addresses.
enum AddressDescriptions {
    private static let full = RouteDescription.Answer.refusal(
        503, "storage_full", meaning: "as much is kept as may be")
    private static let done = RouteDescription.Answer.json("done", .nothingToSay)

    static let token = RouteDescription(
        "Give a device's push token",
        body: .init(
            .object([
                .member("deviceId", .device),
                .member("token", .text(length: 2...TokenRequest.maximumBytes * 2, pattern: "^([0-9a-fA-F]{2})+$")),
                .member("debug", .said("Apple's sandbox.", .boolean)),
            ]),
            example:
                #"{"deviceId":"anna-7c1f","token":"00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0","debug":false}"#
        ), answers: [done, full])

    static let ntfyOn = RouteDescription(
        "Be reminded by ntfy",
        body: .init(.object([.member("deviceId", .device)]), example: #"{"deviceId":"anna-7c1f"}"#),
        answers: [
            .json(
                "the topic to subscribe to", .object([.member("topic", .text()), .member("url", .text(format: "uri"))])),
            full,
        ], example: "/ntfy")

    static let ntfyOff = RouteDescription(
        "Not any more by ntfy", parameters: [.device(.device)], answers: [done],
        example: "'/ntfy?deviceId=anna-7c1f' -X DELETE")

    private static let off = RouteDescription.Answer.refusal(
        404, "web_push_off", meaning: "this server doesn't push to browsers")

    static let pushKey = RouteDescription(
        "The key for a browser's subscription",
        answers: [.json("a point of P-256", .object([.member("publicKey", .text())])), off], example: "/push/key")

    static let subscribe = RouteDescription(
        "Be reminded in a browser",
        body: .init(
            .object([
                .member("deviceId", .device),
                .member(
                    "subscription",
                    .said(
                        "As PushSubscription.toJSON() writes it.",
                        .object([
                            .member("endpoint", .text(length: 1...ProviderURL.maximumBytes, format: "uri")),
                            .member("keys", .object([.member("p256dh", .text()), .member("auth", .text())])),
                        ]))),
            ]),
            example: """
                {"deviceId":"anna-7c1f","subscription":{"endpoint":"https://push.example.org/send/eH4fp1",\
                "keys":{"p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",\
                "auth":"BTBZMqHH6r4Tts7J_aSIgg"}}}
                """), answers: [done, off, full])

    static let unsubscribe = RouteDescription(
        "Not any more in that browser",
        parameters: [.device(.device), .query("endpoint", "Of the subscription.", .text())], answers: [done])
}
