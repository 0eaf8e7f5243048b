package import Basics
package import FoundationEssentials

/// Somebody came into a room, or left it before its end.
package struct PresenceEvent: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case joined, left
    }

    package let kind: Kind
    package let room: UUID
    /// Who of those whom the room is for the peer says it is; not checked yet.
    package let claimedIdentity: UUID?
    /// The last roll call of its loop before it, see ``Rooms/callRoll(_:)``; 0 when there was none.
    package let rollCall: UInt32
    /// How many are in the room now, on all daemons as far as this one knows.
    package let peers: Int
    package let at: MonotonicTime

    package init(
        _ kind: Kind, room: UUID, claimedIdentity: UUID?, peers: Int, at: MonotonicTime, rollCall: UInt32 = 0
    ) {
        self.kind = kind
        self.room = room
        self.claimedIdentity = claimedIdentity
        self.rollCall = rollCall
        self.peers = peers
        self.at = at
    }
}

/// Somebody in a match's room, or all of those in it who didn't say who they are.
package struct Attendee: Sendable, Hashable {
    package let room: UUID
    /// See ``PresenceEvent/claimedIdentity``.
    package let claimedIdentity: UUID?

    package init(room: UUID, claimedIdentity: UUID?) {
        self.room = room
        self.claimedIdentity = claimedIdentity
    }
}

/// Gathers who comes and goes on one loop: many who come at once are told of together.
///
/// A report costs the database's processors more than those of the loop, and at the hour, when everybody comes, both are needed for
/// letting them in. So a rush is told of when it is over, as a rule.
struct PresenceReporter {
    /// Between the first of them and the report, or a look at whether more are coming.
    static let delay = Duration.milliseconds(100)
    /// While so many come and go from look to look, they are a rush.
    static let rush = 256
    /// Of a rush: a second.
    static let mostLooks = 10
    /// So many are told of at once, however many are coming: half a megabyte of them.
    static let limit = 8_192

    enum Step {
        case wait
        /// No timer runs yet: ``timerFired()`` after ``delay``.
        case startTimer
        /// All of them, now.
        case report
    }

    /// Told of them, all of one loop together.
    let report: @Sendable ([PresenceEvent]) -> Void
    /// The last one, see ``RoomShard/callRoll(_:)``.
    var rollCall: UInt32 = 0
    private var events: [PresenceEvent] = []
    /// How many were told of together last: so many may come again, and then nothing grows step by step.
    private var lastCount = 0
    private var isTimerRunning = false
    private var looks = 0
    private var countAtLook = 0

    init(_ report: @escaping @Sendable ([PresenceEvent]) -> Void) {
        self.report = report
    }

    mutating func add(
        _ kind: PresenceEvent.Kind, room: UUID, _ claimedIdentity: UUID?, peers: Int, at now: MonotonicTime
    ) -> Step {
        if events.isEmpty { events.reserveCapacity(lastCount) }
        events.append(
            PresenceEvent(
                kind, room: room, claimedIdentity: claimedIdentity, peers: peers, at: now, rollCall: rollCall))
        if events.count >= Self.limit { return .report }
        if isTimerRunning { return .wait }
        isTimerRunning = true
        return .startTimer
    }

    mutating func timerFired() -> Step {
        looks += 1
        if events.count - countAtLook >= Self.rush && looks < Self.mostLooks {
            countAtLook = events.count
            return .startTimer
        }
        isTimerRunning = false
        return .report
    }

    mutating func takeAll() -> [PresenceEvent] {
        defer { (events, looks, countAtLook) = ([], 0, 0) }
        lastCount = events.count
        return events
    }
}

/// Who was in matches' rooms, for the record.
extension RoomShard {
    func note(_ kind: PresenceEvent.Kind, room: UUID, _ claimedIdentity: UUID?, peers: Int) {
        take(reporter.add(kind, room: room, claimedIdentity, peers: peers, at: loop.now))
    }

    private func take(_ step: PresenceReporter.Step) {
        switch step {
        case .wait: break
        case .startTimer:
            loop.call(after: PresenceReporter.delay) { [weak self] in
                guard let self else { return }
                take(reporter.timerFired())
            }
        case .report: reportPresence()
        }
    }

    private func reportPresence() {
        let events = reporter.takeAll()
        if !events.isEmpty { reporter.report(events) }
    }

    /// Who came and went and was not told of yet: for a daemon that stops.
    package func takePresenceEvents() -> [PresenceEvent] {
        reporter.takeAll()
    }

    /// Who is in matches' rooms on this loop, and how many connections that is of each. What came before is reported by the time that this
    /// returns, and what comes after it bears the number.
    package func callRoll(_ number: UInt32) -> [Attendee: Int] {
        reportPresence()
        reporter.rollCall = number
        var attendees: [Attendee: Int] = [:]
        map.forEach(.reported) { connection in
            attendees[
                Attendee(room: connection.room.id, claimedIdentity: people.person(of: connection)), default: 0] += 1
        }
        return attendees
    }
}
