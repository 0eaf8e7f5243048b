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
