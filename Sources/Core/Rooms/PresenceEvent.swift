package import Basics
package import FoundationEssentials

/// An entry into a room, or a departure before the room closes.
package struct PresenceEvent: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case joined, left
    }

    package let kind: Kind
    package let room: UUID
    /// The identity that the peer claims. Not verified.
    package let claimedIdentity: UUID?
    /// The number of the loop's last roll call before the event, see ``Rooms/callRoll(_:)``; 0 if there was none.
    package let rollCall: UInt32
    /// The number of people in the room after the event, on all daemons known to this daemon.
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

/// A person in a match's room, or all of its unnamed members.
package struct Attendee: Sendable, Hashable {
    package let room: UUID
    /// See ``PresenceEvent/claimedIdentity``.
    package let claimedIdentity: UUID?

    package init(room: UUID, claimedIdentity: UUID?) {
        self.room = room
        self.claimedIdentity = claimedIdentity
    }
}

/// Gathers the presence events of one loop, so that many are reported together.
///
/// A report costs mostly CPU time of the database. At the full hour, when many people enter, the database and the loops
/// need their CPU time for the entries. A rush is therefore usually reported after it is over.
struct PresenceReporter {
    /// The time between the first event and the report. In a rush, the time between two checks of whether it continues.
    static let delay = Duration.milliseconds(100)
    /// The number of events between two checks that makes a rush.
    static let rush = 256
    /// The maximum number of checks in a rush. A rush is thus reported after one second at the latest.
    static let mostLooks = 10
    /// The number of events that are reported without delay, even in a rush. This number of events takes half a
    /// megabyte.
    static let limit = 8_192

    enum Step {
        case wait
        /// Start a timer, and call ``timerFired()`` after ``delay``.
        case startTimer
        /// Report all events now.
        case report
    }

    /// Receives the events of one loop together.
    let report: @Sendable ([PresenceEvent]) -> Void
    /// The number of the last roll call, see ``RoomShard/callRoll(_:)``.
    var rollCall: UInt32 = 0
    private var events: [PresenceEvent] = []
    /// The number of events in the last report, used to reserve memory for the next.
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

/// The record of the people who were in matches' rooms.
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

    /// Returns the events that haven't been reported, for a daemon that stops.
    package func takePresenceEvents() -> [PresenceEvent] {
        reporter.takeAll()
    }

    /// Returns the people in matches' rooms on this loop, with their number of connections. All earlier events are
    /// reported before the call returns, and later events carry `number`.
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
