import Crypto
package import FoundationEssentials

/// The UUIDs of rooms that aren't matches'.
///
/// A match's room has a UUID that its people know. That of every other kind is an HMAC of kind and id, so that nobody who doesn't know
/// the secret gets into it by `/socket?id=`.
package struct RoomKeys: Sendable {
    /// What such a room is about.
    package enum Kind: UInt8, Sendable {
        /// A device's reminders.
        case device = 1
        /// The slots of a day.
        case day = 2
        /// The slots of the days around now.
        case nearDays = 3
        /// Whatever event stream there is.
        case allStreams = 4
    }

    private let secret: [UInt8]

    /// With a secret of the kernel's. Cryptography's library isn't touched before the first key: that is two megabytes of memory.
    package init() {
        var random = SystemRandomNumberGenerator()
        secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// Any thread. A few microseconds.
    package func room(_ kind: Kind, _ id: [UInt8] = []) -> UUID {
        // For want of memory: a room that nobody is in, and nobody will find.
        guard var code = try? HMACSHA256.authenticate([kind.rawValue] + id, key: secret) else { return UUID() }
        // RFC 9562 §5.8: version 8, custom.
        code[6] = code[6] & 0x0F | 0x80
        code[8] = code[8] & 0x3F | 0x80
        return code.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
