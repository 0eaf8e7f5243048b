import FoundationEssentials
import Messaging
import Rooms
import Sockets

/// That a subscriber is there, in each of its latest conversations, and who else is. On its loop.
///
/// A conversation's company is a room in which nothing is said; a user is in it as ``identity(of:)``.
final class ConversationPresence {
    /// Conversations in which somebody is seen: the latest, as a handshake has them, and those that come to them.
    private static let limit = 2 * ConversationEvent.offsetsInHandshake

    private let conversations: Conversations
    private let sender: Sender
    private let user: Int
    /// Told of a conversation where the company has changed; nobody is told if it is `nil`.
    private let changed: ((UUID) -> Void)?
    private var places: [UUID: Place] = [:]
    /// Conversations that the user has left while it was seen there, and where they stood then.
    private var left: [UUID: Int] = [:]

    init(of user: Int, _ conversations: Conversations, on reactor: Reactor, changed: ((UUID) -> Void)?) {
        self.user = user
        self.conversations = conversations
        self.changed = changed
        sender = conversations.rooms.makeSender(on: reactor)
    }

    /// Does nothing the second time.
    ///
    /// - Parameter offset: Of what was said to the user. What comes late, from before it left, doesn't bring it back.
    func enter(_ conversation: UUID, at offset: Int = .max) {
        guard places[conversation] == nil, places.count < Self.limit, offset > left[conversation] ?? -1 else { return }
        left[conversation] = nil
        let place = Place { [weak self] in self?.changed?(conversation) }
        places[conversation] = place
        let member = sender.enter(
            conversations.rooms.company(of: conversation), place, policy: .company,
            claimedIdentity: Self.identity(of: user)
        ) { _ in }
        place.member = member
        if changed != nil { member.watchPresence() }
    }

    /// - Parameter offset: Where the conversation stood when the user left it.
    func leave(_ conversation: UUID, at offset: Int) {
        guard let place = places.removeValue(forKey: conversation) else { return }
        place.leave()
        if left.count >= Self.limit { left = [:] }
        left[conversation] = offset
    }

    func leaveAll() {
        for place in places.values { place.leave() }
        places = [:]
    }

    /// Who is in a conversation's company, when that is to be told: somebody else is, or was, and it isn't what was told last.
    ///
    /// - Parameter orAlone: Also that nobody else is.
    func company(of conversation: UUID, orAlone: Bool = false) -> [Int]? {
        guard let place = places[conversation], let people = place.people, people != place.told else { return nil }
        guard orAlone || place.told != nil || people.contains(where: { $0 != Self.identity(of: user) }) else {
            return nil
        }
        return people.compactMap(Self.user)
    }

    /// What ``company(of:)`` said is told.
    func told(in conversation: UUID) {
        guard let place = places[conversation] else { return }
        place.told = place.people
    }

    // MARK: Users as people

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

    private final class Place: RoomListener {
        var member: Member?
        private(set) var people: Set<UUID>?
        var told: Set<UUID>?
        private let changed: () -> Void

        init(changed: @escaping () -> Void) { self.changed = changed }

        func leave() {
            member?.leave()
            // Each has the other.
            member = nil
        }

        func deliver(_ publication: Publication) {
            guard let presence = publication.message as? PresenceCount else { return }
            people = presence.people
            changed()
        }
    }
}
