import Basics
import FoundationEssentials
import Sockets

@testable import Rooms

/// A loop without sockets. The test advances its time and ends its turns.
final class ManualLoop: RoomLoop {
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private var settling: [any TurnEndHandler] = []
    private var timers: [(due: MonotonicTime, action: () -> Void)] = []

    /// Whether there is work for the end of this turn.
    var isBusy: Bool { !settling.isEmpty }

    func callAtEndOfTurn(_ handler: any TurnEndHandler) { settling.append(handler) }

    func call(after delay: Duration, _ action: @escaping () -> Void) {
        timers.append((now + delay, action))
    }

    func endTurn() {
        let handlers = settling
        settling = []
        for handler in handlers { handler.turnEnds() }
    }

    func advance(by time: Duration) {
        now = now + time
        let due = timers.filter { $0.due <= now }
        timers.removeAll { $0.due <= now }
        for timer in due { timer.action() }
    }
}

/// A message with a number, as tests publish it.
struct Numbered: Message, Hashable {
    let number: Int
}

/// Records what it receives.
final class RecordingPeer: RoomPeer {
    enum Event: Hashable {
        case ales(Int)
        /// Ales of one kind, other than the plain one.
        case cheers(Int, CheerKind)
        case message(Int)
        case presence(Int)
        case closed
    }

    private(set) var events: [Event] = []
    /// The partner's presence, each time it was reported.
    private(set) var partners: [PartnerPresence] = []
    /// Called with each message as it is delivered.
    var react: ((RecordingPeer) -> Void)?
    var forms: [ObjectIdentifier] { keptForms.map { ObjectIdentifier($0) } }
    /// The frames are kept, because a new object could otherwise have the address of a released one, and seem to be the
    /// same.
    private var keptForms: [SharedBytes] = []

    func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {
        events.append(kind == .plain ? .ales(count) : .cheers(count, kind))
    }

    func deliver(_ publication: Publication) {
        if let presence = publication.message as? PresenceCount {
            if let partner = presence.partner { partners.append(partner) }
            return events.append(.presence(presence.count))
        }
        guard let message = publication.message as? Numbered else { return }
        keptForms.append(publication.form { SharedBytes(Array("\(message.number)".utf8)) })
        events.append(.message(message.number))
        react?(self)
    }

    func roomClosed() { events.append(.closed) }

    /// The number of received ales of all kinds.
    var ales: Int { CheerKind.allCases.reduce(0) { $0 + ales(of: $1) } }

    func ales(of kind: CheerKind) -> Int {
        events.reduce(0) {
            switch $1 {
            case .ales(let count) where kind == .plain: $0 + count
            case .cheers(let count, kind): $0 + count
            default: $0
            }
        }
    }
    var counts: [Int] { events.compactMap { if case .presence(let count) = $0 { count } else { nil } } }
    var messages: [Int] { events.compactMap { if case .message(let number) = $0 { number } else { nil } } }
}

/// The rooms of one loop, without a real loop.
final class RoomsUnderTest {
    let loop = ManualLoop()
    let shard: RoomShard
    private let reports = ReportRecorder()

    /// The joins and leaves that were reported.
    final class ReportRecorder: @unchecked Sendable {
        // Sendable holds: a manual loop is called by one test, on one thread.
        var events: [PresenceEvent] = []
    }

    var reported: [PresenceEvent] { reports.events }

    init(anyRoomIsOpen: Bool = true, grace: Duration = .zero) {
        shard = RoomShard(
            on: loop, OpenRooms(areAll: anyRoomIsOpen), aleFrames: CheerKind.allCases.map { _ in [0x82, 0] },
            grace: grace, reporter: PresenceReporter { [reports] in reports.events += $0 })
    }
}
