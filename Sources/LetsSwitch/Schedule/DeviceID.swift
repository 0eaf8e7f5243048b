/// What a device calls itself. Whoever knows it may act for the device, so it is never logged whole: printing one shows
/// its first characters.
package struct DeviceID: Hashable, Sendable {
    package static let maximumScalars = 128

    package let text: String

    /// From the database, where only valid ones are.
    init(stored text: String) {
        self.text = text
    }

    /// Throws `invalid_request`, naming `deviceId`, when it is missing, blank, too long or can't be stored.
    package init(_ text: String?) throws(RequestError) {
        guard let text else { throw .invalid("deviceId", "is missing") }
        self.text = try RequestText.check(text, "deviceId", maximumScalars: Self.maximumScalars)
    }
}

extension DeviceID: CustomStringConvertible {
    package var description: String {
        text.count > 8 ? "\(text.prefix(4))…" : "…"
    }
}
