import Domain
import FoundationEssentials
import Rooms
import Sockets

/// Makes a user present in its latest conversations, and reports the other present users. Must be used on its loop.
///
/// The present users of a conversation are the members of a room without messages. The room identifies a user by
/// ``identity(of:)``.
final class ConversationPresence {
    /// The maximum number of conversations with presence: the latest ones of the handshake, and new ones.
    private static let limit = 2 * ConversationEvent.offsetsInHandshake

    private let conversations: Conversations
    private let sender: Sender
    private let user: Int
    /// Called with a conversation whose present users have changed. `nil` if presence isn't reported.
    private let changed: ((UUID) -> Void)?
    private var memberships: [UUID: Membership] = [:]
    /// The conversations that the user has left, with the position of each when the user left.
    private var left: [UUID: Int] = [:]

    init(of user: Int, _ conversations: Conversations, on reactor: Reactor, changed: ((UUID) -> Void)?) {
        self.user = user
        self.conversations = conversations
        self.changed = changed
        sender = conversations.rooms.makeSender(on: reactor)
    }

    /// Makes the user present in a conversation. Does nothing if the user is already present.
    ///
    /// - Parameter offset: The offset of a message for the user. A delayed message from before the user left doesn't
    ///   make the user present again.
    func enter(_ conversation: UUID, at offset: Int = .max) {
        guard memberships[conversation] == nil, memberships.count < Self.limit,
            offset > left[conversation] ?? -1
        else { return }
        left[conversation] = nil
        let membership = Membership { [weak self] in self?.changed?(conversation) }
        memberships[conversation] = membership
        let member = sender.enter(
            conversations.rooms.presenceRoom(of: conversation), membership, policy: .participants,
            claimedIdentity: Self.identity(of: user)
        ) { _ in }
        membership.member = member
        if changed != nil { member.watchPresence() }
    }

    /// Ends the user's presence in a conversation.
    ///
    /// - Parameter offset: The position of the conversation when the user left.
    func leave(_ conversation: UUID, at offset: Int) {
        guard let membership = memberships.removeValue(forKey: conversation) else { return }
        membership.leave()
        if left.count >= Self.limit { left = [:] }
        left[conversation] = offset
    }

    func leaveAll() {
        for membership in memberships.values { membership.leave() }
        memberships = [:]
    }

    /// Returns the present users of a conversation if they have changed since the last report, otherwise `nil`. The
    /// first report is due when another user is present.
    ///
    /// - Parameter orAlone: Whether the first report is due even if no other user is present.
    func changedUsers(of conversation: UUID, orAlone: Bool = false) -> [Int]? {
        guard let membership = memberships[conversation], let people = membership.people,
            people != membership.reported
        else { return nil }
        guard orAlone || membership.reported != nil || people.contains(where: { $0 != Self.identity(of: user) }) else {
            return nil
        }
        return people.compactMap(Self.user)
    }

    /// Records that the result of ``changedUsers(of:)`` was reported.
    func markReported(in conversation: UUID) {
        guard let membership = memberships[conversation] else { return }
        membership.reported = membership.people
    }

    // MARK: Identities of users

    private static func identity(of user: Int) -> UUID {
        let bytes = withUnsafeBytes(of: UInt64(bitPattern: Int64(user)).bigEndian) { Array($0) }
        return ([UInt8](repeating: 0, count: 8) + bytes).withUnsafeBytes {
            UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
        }
    }

    private static func user(_ identity: UUID) -> Int? {
        let value = withUnsafeBytes(of: identity.uuid) {
            UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        return Int(exactly: value)
    }

    /// The user's membership in the presence room of one conversation.
    private final class Membership: RoomListener {
        var member: Member?
        private(set) var people: Set<UUID>?
        var reported: Set<UUID>?
        private let changed: () -> Void

        init(changed: @escaping () -> Void) { self.changed = changed }

        func leave() {
            member?.leave()
            // Breaks the reference cycle.
            member = nil
        }

        func deliver(_ publication: Publication) {
            guard let presence = publication.message as? PresenceCount else { return }
            people = presence.people
            changed()
        }
    }
}
