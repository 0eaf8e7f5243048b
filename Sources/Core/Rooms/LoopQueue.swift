import FoundationEssentials
import Synchronization

/// The number of a ``Member`` on its loop.
typealias MemberID = UInt64

/// A member's request to the room's home loop, the event loop that owns the room.
enum RoomRequest: Sendable {
    /// - Parameter besides: The other members of the same sender in the room.
    case enter(MemberID, room: UUID, policy: RoomPolicy, claimedIdentity: UUID?, besides: [MemberID])
    /// A number of ales. `by` lists the sender's members in the room, beginning with the one that cheers.
    case cheer(UInt32, CheerKind, by: [MemberID])
    case publish(any Message, by: [MemberID])
    case watchPresence(MemberID)
    case leave(MemberID)
}

/// An event that a room's home loop sends to the loop of these members.
enum MemberEvent: Sendable {
    case decided(MemberID, EntryDecision)
    case ales(Int, CheerKind, for: MemberID)
    case published(any Message, for: [MemberID])
    case closed(MemberID)
}

/// The requests and events that one loop sends to another together. Each list keeps its order.
struct LoopBatch: Sendable {
    var requests: [RoomRequest] = []
    var events: [MemberEvent] = []

    var isEmpty: Bool { requests.isEmpty && events.isEmpty }
}

/// The position of an entry in the unsent batch. It is invalid after the batch was sent.
struct LoopBatchEntry {
    /// The number of the batch.
    let batch: Int
    let index: Int
}

/// The positions at which ales are added up in the unsent batch, by kind.
struct AleEntries {
    private var plain: LoopBatchEntry?
    private var special: [CheerKind: LoopBatchEntry] = [:]

    subscript(kind: CheerKind) -> LoopBatchEntry? {
        get { kind == .plain ? plain : special[kind] }
        set { if kind == .plain { plain = newValue } else { special[kind] = newValue } }
    }
}

/// The messages from one event loop to another event loop, or to itself. Must be used on the first loop.
///
/// ```
/// unsent batch ──end of turn──► batch in flight ──► the other loop performs it
///      ▲                               │
///      └──── the next batch is sent when no batch is in flight ────┘
/// ```
///
/// At most one batch is in flight. While it is, ales are added up in the unsent batch, even over several turns. So the
/// number of members bounds the entries of ales in a batch, however slow the target loop is.
final class LoopQueue {
    /// The index of the target loop.
    let target: Int
    let flight = LoopBatchFlight()
    /// The connections of ``MemberProxy`` in rooms of this loop. Each represents a member on the target loop.
    var proxies: [MemberID: Connection] = [:]
    private unowned let shard: RoomShard
    /// The unsent batch.
    private var batch = LoopBatch()
    /// The number of the unsent batch.
    private var number = 0
    /// The message of the last event; `nil` if that event wasn't a message.
    private var publication: Publication?

    init(to target: Int, of shard: RoomShard) {
        self.target = target
        self.shard = shard
    }

    /// Whether the unsent batch has no entries.
    var isEmpty: Bool { batch.isEmpty }

    func takeBatch() -> LoopBatch {
        defer {
            batch = LoopBatch()
            publication = nil
            number += 1
        }
        return batch
    }

    /// Returns only the requests. See ``takeBatch()``.
    func takeRequests() -> [RoomRequest] {
        defer {
            batch.requests = []
            number += 1
        }
        return batch.requests
    }

    // MARK: Requests to the home loop

    func add(_ request: RoomRequest) {
        batch.requests.append(request)
        shard.awaitTurnEnd()
    }

    func addCheer(_ kind: CheerKind, in entries: inout AleEntries, by members: () -> [MemberID]) {
        // Adds the ales to an earlier entry. Members that entered after that entry don't receive its ales.
        if let entry = entries[kind], entry.batch == number,
            case .cheer(let count, kind, let members) = batch.requests[entry.index]
        {
            batch.requests[entry.index] = .cheer(count + 1, kind, by: members)
        } else {
            entries[kind] = LoopBatchEntry(batch: number, index: batch.requests.count)
            add(.cheer(1, kind, by: members()))
        }
    }

    // MARK: Events of the home loop's rooms

    func add(_ event: MemberEvent) {
        publication = nil
        batch.events.append(event)
        shard.awaitTurnEnd()
    }

    func add(ales count: Int, of kind: CheerKind, for member: MemberID, in entries: inout AleEntries) {
        if let entry = entries[kind], entry.batch == number,
            case .ales(let sum, kind, _) = batch.events[entry.index]
        {
            batch.events[entry.index] = .ales(sum + count, kind, for: member)
        } else {
            entries[kind] = LoopBatchEntry(batch: number, index: batch.events.count)
            add(.ales(count, kind, for: member))
        }
    }

    /// Adds one event for all members, so that the message is encoded once.
    func add(_ publication: Publication, for member: MemberID) {
        if self.publication === publication, case .published(let message, var members)? = batch.events.popLast() {
            members.append(member)
            batch.events.append(.published(message, for: members))
        } else {
            add(.published(publication.message, for: [member]))
            self.publication = publication
        }
    }
}

/// Whether a batch of a queue is in flight. Both loops use it.
final class LoopBatchFlight: Sendable {
    private enum State: UInt8, AtomicRepresentable {
        case idle, inFlight
        /// A batch is in flight, and the queue has another one to send after it.
        case inFlightBeforeAnother
    }

    private let state = Atomic(State.idle)

    /// Records that a batch is sent, unless one is in flight.
    ///
    /// - Returns: Whether the batch may be sent. If not, the next call of ``end()`` returns `true`.
    func begin() -> Bool {
        while true {
            if change(.idle, to: .inFlight) { return true }
            if change(.inFlight, to: .inFlightBeforeAnother)
                || state.load(ordering: .relaxed) == .inFlightBeforeAnother
            {
                return false
            }
        }
    }

    private func change(_ old: State, to new: State) -> Bool {
        state.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
    }

    /// Records that the batch has arrived.
    ///
    /// - Returns: Whether another batch waits to be sent.
    func end() -> Bool {
        state.exchange(.idle, ordering: .relaxed) == .inFlightBeforeAnother
    }
}
