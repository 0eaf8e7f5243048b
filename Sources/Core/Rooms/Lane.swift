import FoundationEssentials
import Synchronization

/// A ``Member``'s number, on its loop.
typealias MemberID = UInt64

/// What a member wants of its room's home.
enum RoomRequest: Sendable {
    /// - Parameter besides: The sender's other places in the room.
    case enter(MemberID, room: UUID, policy: RoomPolicy, claimedIdentity: UUID?, besides: [MemberID])
    /// So many ales; `by` are the sender's places in the room, first the one that cheers.
    case cheer(UInt32, CheerKind, by: [MemberID])
    case publish(any Message, by: [MemberID])
    case watchPresence(MemberID)
    case leave(MemberID)
}

/// What a room's home has for members on another loop.
enum RoomDelivery: Sendable {
    case decided(MemberID, EntryDecision)
    case ales(Int, CheerKind, for: MemberID)
    case published(any Message, for: [MemberID])
    case closed(MemberID)
}

/// What one loop's rooms and members have for another's: those requests in their order, and those deliveries in theirs.
struct Mail: Sendable {
    var requests: [RoomRequest] = []
    var deliveries: [RoomDelivery] = []

    var isEmpty: Bool { requests.isEmpty && deliveries.isEmpty }
}

/// Where something stands in the mail that is being gathered; means nothing once that has left.
struct MailEntry {
    let mail: Int
    let index: Int
}

/// Where ales add up in the mail, by their kind: however many there are, and however they alternate.
struct AleEntries {
    private var plain: MailEntry?
    private var special: [CheerKind: MailEntry] = [:]

    subscript(kind: CheerKind) -> MailEntry? {
        get { kind == .plain ? plain : special[kind] }
        set { if kind == .plain { plain = newValue } else { special[kind] = newValue } }
    }
}

/// The way from one loop to another, or to itself. On the first.
///
/// ```
/// gathered in a turn ──its end──► one mail under way ──taken by the other loop──► …
///        ▲                              │
///        └──── what comes meanwhile waits for its return
/// ```
/// Ales add up, also over turns while a mail is under way: there is as much of them to carry as there are members, however slow the
/// other loop is.
final class Lane {
    /// The index of the loop that it leads to.
    let target: Int
    let flight = MailFlight()
    /// Of the members on that loop that are in rooms of this one.
    var standIns: [MemberID: Connection] = [:]
    private unowned let shard: RoomShard
    private var mail = Mail()
    /// Of the mail that is being gathered.
    private var number = 0
    /// Of the last delivery, if that is one.
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

    /// As ``takeMail()``, of the requests alone.
    func takeRequests() -> [RoomRequest] {
        defer {
            mail.requests = []
            number += 1
        }
        return mail.requests
    }

    // MARK: To the home

    func add(_ request: RoomRequest) {
        mail.requests.append(request)
        shard.awaitTurnEnd()
    }

    func addCheer(_ kind: CheerKind, in entries: inout AleEntries, by places: () -> [MemberID]) {
        // Places that were taken since are taken after it, and owed nothing of before.
        if let entry = entries[kind], entry.mail == number,
            case .cheer(let count, kind, let places) = mail.requests[entry.index]
        {
            mail.requests[entry.index] = .cheer(count + 1, kind, by: places)
        } else {
            entries[kind] = MailEntry(mail: number, index: mail.requests.count)
            add(.cheer(1, kind, by: places()))
        }
    }

    // MARK: From the home

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

    /// One delivery for all members, so that the message is made into what they send once.
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

/// Whether a lane's mail is under way. Both of its loops know.
final class MailFlight: Sendable {
    private enum State: UInt8, AtomicRepresentable {
        case landed, underWay
        /// More has been gathered since.
        case awaited
    }

    private let state = Atomic(State.landed)

    /// - Returns: Whether a mail may leave now; else its arrival is reported.
    func departs() -> Bool {
        while true {
            if change(.landed, to: .underWay) { return true }
            if change(.underWay, to: .awaited) || state.load(ordering: .relaxed) == .awaited { return false }
        }
    }

    private func change(_ old: State, to new: State) -> Bool {
        state.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
    }

    /// - Returns: Whether more waits for its return.
    func arrives() -> Bool {
        state.exchange(.landed, ordering: .relaxed) == .awaited
    }
}
