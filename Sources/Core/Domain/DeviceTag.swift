import Crypto
package import Observability

/// A replacement for a device's id in logs: eight hexadecimal digits, which stay the same for a device until the
/// process ends.
///
/// A `deviceId` is the only secret that protects a person's tasks, so it is never written in full. The hash has a
/// random key, so ids can't be found by trying, and tags can't be followed across a restart.
package struct DeviceTag: Sendable, Hashable, CustomStringConvertible {
    private static let byteCount = 4

    private let bytes: [UInt8]

    package init(_ deviceId: String, under key: Key = .own) {
        // Hashes the bytes, because ids are compared byte for byte. If the hash fails, the tag is empty and doesn't
        // show the id.
        bytes = key.authenticate(Array(deviceId.utf8)).map { Array($0.prefix(Self.byteCount)) } ?? []
    }

    /// Returns `nil` unless `text` has the form of ``description``.
    package init?(text: String) {
        guard let bytes = HexText.decode(text), bytes.count == Self.byteCount, HexText.encode(bytes) == text else {
            return nil
        }
        self.bytes = bytes
    }

    package var description: String { HexText.encode(bytes) }
}

extension DeviceTag {
    /// The key of a process's tags. Other daemons receive it only to find the device of a tag.
    package struct Key: Sendable, CustomStringConvertible {
        private static let byteCount = 16

        /// The key of this process.
        package static let own = Key((0..<byteCount).map { _ in UInt8.random(in: .min ... .max) })

        private let bytes: [UInt8]
        private let authenticator: HMACSHA256Key?

        private init(_ bytes: [UInt8]) {
            self.bytes = bytes
            authenticator = try? HMACSHA256Key(bytes)
        }

        /// Parses a text of the form of ``description``.
        package init?(text: some StringProtocol) {
            guard let bytes = HexText.decode(String(text)), bytes.count == Self.byteCount else { return nil }
            self.init(bytes)
        }

        package var description: String { HexText.encode(bytes) }

        fileprivate func authenticate(_ message: [UInt8]) -> [UInt8]? { try? authenticator?.authenticate(message) }
    }
}

extension LogValue {
    /// Returns the tag that replaces a device's id in the log.
    package static func device(_ device: DeviceID) -> LogValue {
        .string(DeviceTag(device.text).description)
    }
}
