import Basics
import Crypto
package import FoundationEssentials

/// The UUIDs of rooms that aren't matches'.
///
/// A match's room has a UUID that its people know. That of every other kind is an HMAC of kind and id, so that nobody who doesn't know
/// the secret gets into it by `/socket?id=`. Daemons with the same secret have the same keys.
package final class RoomKeys: Sendable {
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
        /// A session of questions.
        case questions = 5
        /// No room: by which a session of questions knows a device.
        case asker = 6
        /// All conversations of a user.
        case conversations = 7
        /// Who has a conversation, and is there.
        case company = 8
        /// Who is in a session of questions.
        case hall = 9
    }

    private enum State {
        case secret([UInt8])
        /// Made for the first key: cryptography's library isn't touched before, since that is two megabytes of memory.
        case key(HMACSHA256Key)
    }

    private let state: Locked<State>

    /// With a secret of the kernel's, until ``share(_:)``.
    package init() {
        var random = SystemRandomNumberGenerator()
        state = Locked(.secret((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }))
    }

    /// From now on with this secret, which other daemons have too. Before anybody is in a room that got its UUID here. Any thread.
    package func share(_ secret: [UInt8]) {
        state.withLock { $0 = .secret(secret) }
    }

    /// Any thread. A microsecond.
    package func room(_ kind: Kind, _ id: [UInt8] = []) -> UUID {
        // For want of memory: a room that nobody is in, and nobody will find.
        guard var code = try? key().authenticate([kind.rawValue] + id) else { return UUID() }
        // RFC 9562 §5.8: version 8, custom.
        code[6] = code[6] & 0x0F | 0x80
        code[8] = code[8] & 0x3F | 0x80
        return code.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private func key() throws(CryptoError) -> HMACSHA256Key {
        try state.withLock { state throws(CryptoError) in
            switch state {
            case .key(let key): return key
            case .secret(let secret):
                let key = try HMACSHA256Key(secret)
                state = .key(key)
                return key
            }
        }
    }
}
