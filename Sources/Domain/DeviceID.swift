package import Observability

/// What a device calls itself. Whoever knows it may act for the device, so it is never logged whole: printing one shows
/// its first characters.
package struct DeviceID: Hashable, Sendable {
    package static let maximumScalars = 128

    package let text: String

    /// From the database, where only valid ones are.
    package init(stored text: String) {
        self.text = text
    }

    /// Throws `invalid_request`, naming `deviceId`, when it is missing, blank, too long or can't be stored.
    package init(_ text: String?) throws(RequestError) {
        guard let text else { throw .invalid("deviceId", "is missing") }
        self.text = try RequestText.check(text, "deviceId", maximumScalars: Self.maximumScalars)
    }
}

extension DeviceID {
    /// Byte for byte, as the database compares. To Swift's strings, `é` in one scalar and in two are the same, and one
    /// device would get another's reminders.
    package static func == (left: DeviceID, right: DeviceID) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension DeviceID: CustomStringConvertible {
    package var description: String {
        text.count > 8 ? "\(text.prefix(4))…" : "…"
    }
}

/// A body that names a device, and nothing else: `{"deviceId": …}`.
package struct DeviceRequest: Sendable, Hashable {
    package let device: DeviceID

    /// Throws `invalid_request`, naming the member.
    package static func decode(_ body: [UInt8]) throws(RequestError) -> DeviceRequest {
        try RequestFields.decode(DeviceRequest.self, from: body)
    }
}

extension DeviceRequest: Decodable {
    package init(from decoder: any Decoder) throws {
        device = try DeviceID(RequestFields(decoder).text("deviceId"))
    }
}

/// What stands for a device in logs: eight hexadecimal digits, the same for a device as long as the process lives.
///
/// A `deviceId` is the only secret that protects a person's tasks, so it is never written whole. The hash is keyed
/// with a number that nobody knows, so a tag can't be found by trying ids, nor followed beyond a restart.
package struct DeviceTag: Sendable, Hashable, CustomStringConvertible {
    private let bits: UInt32

    private static let key = UInt64.random(in: .min ... .max)

    package init(_ deviceId: String) {
        // SipHash with a seed per process; the key of our own holds where SWIFT_DETERMINISTIC_HASHING is set.
        var hasher = Hasher()
        hasher.combine(Self.key)
        // Byte for byte, as ids are told apart: of two that look the same each has a tag.
        var deviceId = deviceId
        deviceId.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        bits = UInt32(truncatingIfNeeded: hasher.finalize())
    }

    package var description: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension LogValue {
    /// The tag that stands for a device in the log.
    package static func device(_ device: DeviceID) -> LogValue {
        .string(DeviceTag(device.text).description)
    }
}
