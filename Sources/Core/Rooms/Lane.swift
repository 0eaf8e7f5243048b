import FoundationEssentials
import Synchronization

/// The number of a ``Member`` on its loop.
typealias MemberID = UInt64

/// A member's request to the room's home loop.
enum RoomRequest: Sendable {
    /// - Parameter besides: The other members of the same sender in the room.
    case enter(MemberID, room: UUID, policy: RoomPolicy, claimedIdentity: UUID?, besides: [MemberID])
    /// A number of ales. `by` lists the sender's members in the room, beginning with the one that cheers.
    case cheer(UInt32, CheerKind, by: [MemberID])
    case publish(any Message, by: [MemberID])
    case watchPresence(MemberID)
    case leave(MemberID)
}

/// A delivery from a room's home loop to members on another loop.
enum RoomDelivery: Sendable {
    case decided(MemberID, EntryDecision)
    case ales(Int, CheerKind, for: MemberID)
    case published(any Message, for: [MemberID])
    case closed(MemberID)
}

/// The requests and deliveries of one loop for another, each in their order.
struct Mail: Sendable {
    var requests: [RoomRequest] = []
    var deliveries: [RoomDelivery] = []

    var isEmpty: Bool { requests.isEmpty && deliveries.isEmpty }
}

/// The position of an entry in the mail that is being gathered. Invalid after the mail was sent.
struct MailEntry {
    let mail: Int
    let index: Int
}

/// The positions at which ales are added up in the mail, by kind.
struct AleEntries {
    private var plain: MailEntry?
    private var special: [CheerKind: MailEntry] = [:]

    subscript(kind: CheerKind) -> MailEntry? {
        get { kind == .plain ? plain : special[kind] }
        set { if kind == .plain { plain = newValue } else { special[kind] = newValue } }
    }
}

/// The way from one loop to another loop, or to itself. Used on the first loop.
///
/// ```
/// gathered in a turn ──end of turn──► one mail in flight ──taken by the other loop──► …
///        ▲                                  │
///        └──── more waits for its return ───┘
/// ```
///
/// Ales are added up, even over several turns while a mail is in flight. The size of a mail is therefore bounded by the
/// number of members, however slow the target loop is.
final class Lane {
    /// The index of the target loop.
    let target: Int
    let flight = MailFlight()
    /// The connections in rooms of this loop that represent members on the target loop.
    var proxies: [MemberID: Connection] = [:]
    private unowned let shard: RoomShard
    private var mail = Mail()
    /// The number of the mail that is being gathered.
    private var number = 0
    /// The message of the last delivery; `nil` if that delivery wasn't a message.
    private var publication: Publication?

    init(to target: Int, of shard: RoomShard) {
        self.target = target
        self.shard = shard
    }

    var hasMail: Bool { !mail.isEmpty }

    func takeMail() -> Mail {
        defer {
            mail = Mail()
            publication = nil
            number += 1
        }
        return mail
    }

    /// Returns only the requests. See ``takeMail()``.
    func takeRequests() -> [RoomRequest] {
        defer {
            mail.requests = []
            number += 1
        }
        return mail.requests
    }

    // MARK: Requests to the home loop

    func add(_ request: RoomRequest) {
        mail.requests.append(request)
        shard.awaitTurnEnd()
    }

    func addCheer(_ kind: CheerKind, in entries: inout AleEntries, by members: () -> [MemberID]) {
        // Adds the ales to an earlier entry. Members that entered after that entry don't receive its ales.
        if let entry = entries[kind], entry.mail == number,
            case .cheer(let count, kind, let members) = mail.requests[entry.index]
        {
            mail.requests[entry.index] = .cheer(count + 1, kind, by: members)
        } else {
            entries[kind] = MailEntry(mail: number, index: mail.requests.count)
            add(.cheer(1, kind, by: members()))
        }
    }

    // MARK: Deliveries from the home loop

    func add(_ delivery: RoomDelivery) {
        publication = nil
        mail.deliveries.append(delivery)
        shard.awaitTurnEnd()
    }

    func add(ales count: Int, of kind: CheerKind, for member: MemberID, in entries: inout AleEntries) {
        if let entry = entries[kind], entry.mail == number,
            case .ales(let sum, kind, _) = mail.deliveries[entry.index]
        {
            mail.deliveries[entry.index] = .ales(sum + count, kind, for: member)
        } else {
            entries[kind] = MailEntry(mail: number, index: mail.deliveries.count)
            add(.ales(count, kind, for: member))
        }
    }

    /// Adds one delivery for all members, so that the message is encoded once.
    func add(_ publication: Publication, for member: MemberID) {
        if self.publication === publication, case .published(let message, var members)? = mail.deliveries.popLast() {
            members.append(member)
            mail.deliveries.append(.published(message, for: members))
        } else {
            add(.published(publication.message, for: [member]))
            self.publication = publication
        }
    }
}

/// Whether a lane's mail is in flight, known to both loops.
final class MailFlight: Sendable {
    private enum State: UInt8, AtomicRepresentable {
        case landed, underWay
        /// A mail is in flight, and more was gathered since it was sent.
        case awaited
    }

    private let state = Atomic(State.landed)

    /// - Returns: Whether a mail may be sent now. If not, ``arrives()`` reports that there is more.
    func departs() -> Bool {
        while true {
            if change(.landed, to: .underWay) { return true }
            if change(.underWay, to: .awaited) || state.load(ordering: .relaxed) == .awaited { return false }
        }
    }

    private func change(_ old: State, to new: State) -> Bool {
        state.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
    }

    /// - Returns: Whether more mail was gathered while this mail was in flight.
    func arrives() -> Bool {
        state.exchange(.landed, ordering: .relaxed) == .awaited
    }
}
