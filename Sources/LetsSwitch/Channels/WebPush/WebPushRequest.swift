import Domain

/// `POST /push/subscription`.
struct WebPushRequest: Sendable {
    let device: DeviceID
    let subscription: WebPushSubscription

    /// Throws `invalid_request`, naming the member.
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
