import Foundation

/// What one client was told about its device's task in one slot, and what therefore may be there. Requests come one after
/// the other; an answer that was lost leaves a doubt.
///
/// ```
///            201, 200                     the answers are certain,
///   absent ───────────▶ present           lost ones may have taken effect, or may take effect yet
///          ◀───────────
///            200 to a cancel
/// ```
struct PromiseHistory: Equatable {
    /// What the last answer said.
    enum Certainty: Equatable {
        case absent
        case present(Promise)
    }

    /// A task, as far as its client was told of it.
    struct Promise: Equatable {
        /// `nil`: only a refusal to cancel has told of it.
        var id: UUID?
        var room: UUID?
        var partner: String?
        /// Paired, or its reminder out: no request can take it away any more.
        var isFixed = false
    }

    enum Doubt: Equatable { case registration, cancellation }

    private(set) var certainty = Certainty.absent
    /// Requests without an answer, in order. The first `overCount` can't take effect any more: the database has died since.
    private(set) var doubts: [Doubt] = []
    private var overCount = 0
    /// Those that were there when the database began to die.
    private var dyingCount = 0
    /// Of the doubts, those that were over when the request in hand began: its answer has seen what became of them.
    private var seenByRequest = 0
    /// Tasks that were cancelled for certain.
    private(set) var cancelled: Set<UUID> = []
    private(set) var objections: [String] = []

    /// Whether there may be a task.
    var mayBePresent: Bool { certainty != .absent || doubts.contains(.registration) }

    /// Whether there may be none.
    var mayBeAbsent: Bool {
        guard case .present(let promise) = certainty else { return true }
        return !promise.isFixed && doubts.contains(.cancellation)
    }

    /// Whether there may be another task than the certain one.
    private var mayBeAnother: Bool { mayBeAbsent && doubts.contains(.registration) }

    // MARK: Requests and answers

    mutating func begin() { seenByRequest = overCount }

    /// `201` and `200` to a registration.
    mutating func registered(_ promise: Promise, isNew: Bool) {
        if isNew, !mayBeAbsent { object("registered anew though it was there") }
        if !isNew { objectToOther(promise) }
        var promise = promise
        if case .present(let known) = certainty, known.id == promise.id {
            promise.partner = promise.partner ?? known.partner
            promise.isFixed = promise.isFixed || known.isFixed
        }
        settle(.present(promise))
    }

    /// `409` to a registration: there was none, or it would have been a repeat.
    mutating func registrationRefused() {
        if !mayBeAbsent { object("registration refused though the task is there") }
        settle(.absent)
    }

    /// `200` to a cancel.
    mutating func cancelled(_ id: UUID) {
        objectToOther(Promise(id: id))
        if case .present(let known) = certainty, known.isFixed, known.id == id { object("cancelled what was promised") }
        cancelled.insert(id)
        settle(.absent)
    }

    /// `404` to a cancel.
    mutating func notFound() {
        if !mayBeAbsent { object("a registered task was not found") }
        settle(.absent)
    }

    /// `409` to a cancel: it has a partner, or its reminder is out.
    mutating func kept() {
        if !mayBePresent { object("a task was kept that was never registered") }
        guard case .present(var promise) = certainty, !mayBeAnother else {
            return settle(.present(Promise(isFixed: true)))
        }
        promise.isFixed = true
        settle(.present(promise))
    }

    /// No answer, or one that leaves the outcome open.
    mutating func unanswered(_ doubt: Doubt) {
        doubts.append(doubt)
    }

    /// The database is about to be killed.
    mutating func databaseDies() { dyingCount = doubts.count }

    /// It is dead: no statement from before its death is at work any more.
    mutating func databaseDied() { overCount = dyingCount }

    private mutating func settle(_ certainty: Certainty) {
        self.certainty = certainty
        doubts.removeFirst(seenByRequest)
        overCount -= seenByRequest
        dyingCount = max(overCount, dyingCount - seenByRequest)
        seenByRequest = 0
    }

    // MARK: Judging

    /// What contradicts the answers, if the task in the database is this one.
    func contradictions(to stored: StoredSchedule.Task?) -> [String] {
        guard let stored else { return mayBeAbsent ? [] : ["an acknowledged registration is lost"] }
        var contradictions: [String] = []
        if !mayBePresent { contradictions.append("a task is there that nobody registered, or that was cancelled") }
        if cancelled.contains(stored.id) { contradictions.append("a cancelled task is there") }
        guard case .present(let promise) = certainty else { return contradictions }
        guard promise.id == nil || promise.id == stored.id else {
            if !mayBeAnother { contradictions.append("another task is there than the acknowledged one") }
            return contradictions
        }
        if let room = promise.room, room != stored.room { contradictions.append("the room is another") }
        if let partner = promise.partner, partner != stored.partnerDevice {
            contradictions.append("the partner \(partner) was lost")
        }
        return contradictions
    }

    private mutating func objectToOther(_ promise: Promise) {
        if !mayBePresent { object("a task was there that nobody registered") }
        guard case .present(let known) = certainty, let id = known.id else { return }
        if id == promise.id {
            if let room = promise.room, room != known.room { object("the room has changed") }
            if let partner = known.partner, let other = promise.partner, other != partner {
                object("the partner has changed")
            }
        } else if !mayBeAnother {
            object("the task has become another")
        }
    }

    private mutating func object(_ text: String) { objections.append(text) }
}
