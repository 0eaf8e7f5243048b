import Basics
import Crypto
package import FoundationEssentials

/// The UUIDs of rooms other than matches' rooms.
///
/// The people of a match know the UUID of its room. The UUID of every other room is an HMAC of its kind and id. No
/// client can enter such a room through `/socket?id=` without the secret. Daemons with the same secret compute the same
/// UUIDs.
package final class RoomKeys: Sendable {
    /// The kind of such a room.
    package enum Kind: UInt8, Sendable {
        /// A device's reminders.
        case device = 1
        /// The slots of a day.
        case day = 2
        /// The slots of the days around now.
        case nearDays = 3
        /// All event streams.
        case allStreams = 4
        /// A question session.
        case questions = 5
        /// The pseudonym of a device in a question session, which isn't a room.
        case asker = 6
        /// All conversations of a user.
        case conversations = 7
        /// The participants of a conversation.
        case participants = 8
        /// The audience of a question session.
        case audience = 9
    }

    private enum State {
        case secret([UInt8])
        /// The prepared key. It is prepared at the first use, because loading the cryptography library takes two
        /// megabytes of memory.
        case key(HMACSHA256Key)
    }

    private let state: Locked<State>

    /// Uses a random secret of this process until ``share(_:)``.
    package init() {
        var random = SystemRandomNumberGenerator()
        state = Locked(.secret((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }))
    }

    /// Uses this secret, which other daemons have too, from now on. Must be called before any of these rooms has
    /// members. Any thread may call it.
    package func share(_ secret: [UInt8]) {
        state.withLock { $0 = .secret(secret) }
    }

    /// Returns the UUID of a room. Takes about a microsecond. Any thread may call it.
    package func room(_ kind: Kind, _ id: [UInt8] = []) -> UUID {
        // If the HMAC fails for lack of memory, the UUID is random. No client can find that room, so it stays empty.
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
