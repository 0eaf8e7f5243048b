/// A body that names a device, and nothing else: `{"deviceId": …}`.
struct DeviceRequest: Sendable, Hashable {
    let device: DeviceID

    /// Throws `invalid_request`, naming the member.
    static func decode(_ body: [UInt8]) throws(RequestError) -> DeviceRequest {
        try RequestMembers.decode(DeviceRequest.self, from: body)
    }
}

extension DeviceRequest: Decodable {
    init(from decoder: any Decoder) throws {
        device = try DeviceID(RequestMembers(decoder).text("deviceId"))
    }
}
