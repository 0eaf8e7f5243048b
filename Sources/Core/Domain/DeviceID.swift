/// The id that a device chose for itself. Anyone who knows it can act for the device, so it is never logged in full.
/// Its description shows only the first characters.
package struct DeviceID: Hashable, Sendable {
    package static let maximumScalars = 128

    package let text: String

    /// Creates an id that was read from the database, which contains only valid ones.
    package init(stored text: String) {
        self.text = text
    }

    /// Creates an id that a client sent. Throws `invalid_request`, naming `deviceId`, if the id is missing, blank, too
    /// long or can't be stored.
    package init(_ text: String?) throws(RequestError) {
        guard let text else { throw .invalid("deviceId", "is missing") }
        self.text = try RequestText.check(text, "deviceId", maximumScalars: Self.maximumScalars)
    }
}

extension DeviceID {
    /// Compares byte for byte, as the database does. Swift's strings treat `é` as one scalar and `é` as two as equal,
    /// so one device would receive the reminders of a different one.
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

/// A body that names only a device: `{"deviceId": …}`.
package struct DeviceRequest: Sendable, Hashable {
    package let device: DeviceID

    /// Decodes the body. Throws `invalid_request` with the name of the invalid field.
    package static func decode(_ body: [UInt8]) throws(RequestError) -> DeviceRequest {
        try RequestFields.decode(DeviceRequest.self, from: body)
    }
}

extension DeviceRequest: Decodable {
    package init(from decoder: any Decoder) throws {
        device = try DeviceID(RequestFields(decoder).text("deviceId"))
    }
}
