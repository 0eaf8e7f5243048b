import Domain
import Glibc
import Observability
import Server
import Wire

/// Manages browsers' subscriptions: `GET /push/key`, `POST` and `DELETE /push/subscription`.
struct WebPushController: RouteCollection {
    /// The store of the server's key. `nil` if Web Push isn't configured.
    private let keyStore: VAPIDKeyStore?
    private let store: AddressStore
    /// Whether endpoints may be plain `http`.
    private let allowsPlainHTTP: Bool
    private let log: Log

    init(_ settings: WebPushSettings, store: AddressStore, log: Log) {
        // The provider has its own store of the key. Both read the key from the database.
        keyStore = settings.contact.map { VAPIDKeyStore(contact: $0, now: { time(nil) }, secret: store.secret) }
        self.store = store
        allowsPlainHTTP = settings.allowsPrivateAddresses
        self.log = log
    }

    func boot(routes: RoutesBuilder) {
        routes.get("push", "key", as: AddressDescriptions.pushKey, use: key)
        routes.post("push", "subscription", as: AddressDescriptions.subscribe, registers: true, use: subscribe)
        routes.delete("push", "subscription", as: AddressDescriptions.unsubscribe, use: unsubscribe)
    }

    @Sendable private func key(_ request: Request) async throws -> Response {
        let point = try await configured().publicPoint()
        var json = JSONText()
        json.object { $0.member("publicKey", Base64.encodeForURL(point)) }
        return .json(json.bytes)
    }

    @Sendable private func subscribe(_ request: Request) async throws -> Response {
        _ = try configured()
        let request = try WebPushRequest.decode(request.body)
        let subscription = request.subscription
        guard allowsPlainHTTP || ProviderURL(subscription.endpoint)?.scheme == "https" else {
            throw RequestError.invalid("subscription.endpoint", "must be an https URL")
        }
        try await store.register(
            subscription.endpoint, details: subscription.details, of: request.device, in: .webPush,
            most: WebPushSubscription.mostPerDevice)
        log.info("browser subscribed", ["device": .device(request.device)])
        return .json(Array("{}".utf8))
    }

    /// Removes a subscription, even if Web Push isn't configured any more.
    @Sendable private func unsubscribe(_ request: Request) async throws -> Response {
        let device = try DeviceID(request.query("deviceId"))
        guard let endpoint = request.query("endpoint"), !endpoint.isEmpty, !endpoint.utf8.contains(0) else {
            throw RequestError.invalid("endpoint", "is missing")
        }
        try await store.remove(endpoint, of: device, in: .webPush)
        log.info("browser unsubscribed", ["device": .device(device)])
        return .json(Array("{}".utf8))
    }

    private func configured() throws -> VAPIDKeyStore {
        guard let keyStore else {
            throw Abort(
                .notFound, code: "web_push_off",
                reason: "This server doesn't send notifications to browsers: Web Push is off.")
        }
        return keyStore
    }
}

/// The body of `POST /push/subscription`.
struct WebPushRequest: Sendable {
    let device: DeviceID
    let subscription: WebPushSubscription

    /// Throws `invalid_request` with the name of the invalid field.
    static func decode(_ body: [UInt8]) throws(RequestError) -> WebPushRequest {
        try RequestFields.decode(WebPushRequest.self, from: body)
    }
}

extension WebPushRequest: Decodable {
    init(from decoder: any Decoder) throws {
        let members = try RequestFields(decoder)
        device = try DeviceID(members.text("deviceId"))
        subscription = try members.member("subscription", WebPushSubscription.self)
    }
}
