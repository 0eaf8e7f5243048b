import Crypto
package import Observability

/// What stands for a device in logs: eight hexadecimal digits, the same for a device as long as the process lives.
///
/// A `deviceId` is the only secret that protects a person's tasks, so it is never written whole. The hash is keyed
/// with a number that nobody knows, so a tag can't be found by trying ids, nor followed beyond a restart.
package struct DeviceTag: Sendable, Hashable, CustomStringConvertible {
    private static let byteCount = 4

    private let bytes: [UInt8]

    package init(_ deviceId: String, under key: Key = .own) {
        // Byte for byte, as ids are told apart: of two that look the same each has a tag. A library that can't make one leaves it empty:
        // better nobody's than a name.
        bytes = key.authenticate(Array(deviceId.utf8)).map { Array($0.prefix(Self.byteCount)) } ?? []
    }

    /// `nil` for anything else than what ``description`` says.
    package init?(text: String) {
        guard let bytes = HexText.decode(text), bytes.count == Self.byteCount, HexText.encode(bytes) == text else {
            return nil
        }
        self.bytes = bytes
    }

    package var description: String { HexText.encode(bytes) }
}

extension DeviceTag {
    /// What a process makes its tags with. Others are told it only so that they find out whom one of its tags means.
    package struct Key: Sendable, CustomStringConvertible {
        private static let byteCount = 16

        /// This process'.
        package static let own = Key((0..<byteCount).map { _ in UInt8.random(in: .min ... .max) })

        private let bytes: [UInt8]
        private let authenticator: HMACSHA256Key?

        private init(_ bytes: [UInt8]) {
            self.bytes = bytes
            authenticator = try? HMACSHA256Key(bytes)
        }

        /// As ``description`` says it.
        package init?(text: some StringProtocol) {
            guard let bytes = HexText.decode(String(text)), bytes.count == Self.byteCount else { return nil }
            self.init(bytes)
        }

        package var description: String { HexText.encode(bytes) }

        fileprivate func authenticate(_ message: [UInt8]) -> [UInt8]? { try? authenticator?.authenticate(message) }
    }
}

extension LogValue {
    /// The tag that stands for a device in the log.
    package static func device(_ device: DeviceID) -> LogValue {
        .string(DeviceTag(device.text).description)
    }
}
