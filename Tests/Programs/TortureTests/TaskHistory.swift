import Foundation

/// What one client knows of its device's task in one slot, and what may therefore be stored. Requests are sent one
/// after the other. A lost answer leaves an uncertain request.
///
/// ```
///            201, 200                     answers are certain;
///   absent ───────────▶ present           a request without an answer may have
///          ◀───────────                   taken effect, or may still do so
///            200 to a cancellation
/// ```
struct TaskHistory: Equatable {
    /// The state according to the last answer.
    enum KnownState: Equatable {
        case absent
        case present(KnownTask)
    }

    /// A task, as far as its client knows it.
    struct KnownTask: Equatable {
        /// `nil` if only a refused cancellation has shown that the task exists.
        var id: UUID?
        var room: UUID?
        var partner: String?
        /// Whether the task is matched or its reminder sent, so that no request can remove it.
        var isFixed = false
    }

    enum UncertainRequest: Equatable { case registration, cancellation }

    private(set) var knownState = KnownState.absent
    /// Requests without an answer, in order. The first `overCount` can no longer take effect, because the database has
    /// died since.
    private(set) var uncertainRequests: [UncertainRequest] = []
    private var overCount = 0
    /// The number of uncertain requests when the kill of the database began.
    private var dyingCount = 0
    /// The number of uncertain requests that were over when the current request began. Its answer reflects their results.
    private var seenByRequest = 0
    /// Tasks that were certainly cancelled.
    private(set) var cancelled: Set<UUID> = []
    private(set) var objections: [String] = []

    /// Whether the slot may have a task.
    var mayBePresent: Bool { knownState != .absent || uncertainRequests.contains(.registration) }

    /// Whether the slot may have no task.
    var mayBeAbsent: Bool {
        guard case .present(let promise) = knownState else { return true }
        return !promise.isFixed && uncertainRequests.contains(.cancellation)
    }

    /// Whether the slot may have a task other than the certain one.
    private var mayBeAnother: Bool { mayBeAbsent && uncertainRequests.contains(.registration) }

    // MARK: Requests and answers

    mutating func begin() { seenByRequest = overCount }

    /// Notes a `201` or `200` to a registration.
    mutating func registered(_ promise: KnownTask, isNew: Bool) {
        if isNew, !mayBeAbsent { object("registered anew though it was there") }
        if !isNew { objectToOther(promise) }
        var promise = promise
        if case .present(let known) = knownState, known.id == promise.id {
            promise.partner = promise.partner ?? known.partner
            promise.isFixed = promise.isFixed || known.isFixed
        }
        settle(.present(promise))
    }

    /// Notes a `409` to a registration. There was no task, or the registration would have been a repeat.
    mutating func registrationRefused() {
        if !mayBeAbsent { object("registration refused though the task is there") }
        settle(.absent)
    }

    /// Notes a `200` to a cancellation.
    mutating func cancelled(_ id: UUID) {
        objectToOther(KnownTask(id: id))
        if case .present(let known) = knownState, known.isFixed, known.id == id {
            object("cancelled what was promised")
        }
        cancelled.insert(id)
        settle(.absent)
    }

    /// Notes a `404` to a cancellation.
    mutating func notFound() {
        if !mayBeAbsent { object("a registered task was not found") }
        settle(.absent)
    }

    /// Notes a `409` to a cancellation. The task has a partner, or its reminder is sent.
    mutating func kept() {
        if !mayBePresent { object("a task was kept that was never registered") }
        guard case .present(var promise) = knownState, !mayBeAnother else {
            return settle(.present(KnownTask(isFixed: true)))
        }
        promise.isFixed = true
        settle(.present(promise))
    }

    /// Notes a request without an answer, or with an inconclusive one.
    mutating func unanswered(_ request: UncertainRequest) {
        uncertainRequests.append(request)
    }

    /// Notes that the database is about to be killed.
    mutating func databaseDies() { dyingCount = uncertainRequests.count }

    /// Notes that the database is dead. No statement from before its death is still running.
    mutating func databaseDied() { overCount = dyingCount }

    private mutating func settle(_ knownState: KnownState) {
        self.knownState = knownState
        uncertainRequests.removeFirst(seenByRequest)
        overCount -= seenByRequest
        dyingCount = max(overCount, dyingCount - seenByRequest)
        seenByRequest = 0
    }

    // MARK: Judging

    /// Returns what contradicts the answers if this task is stored.
    func contradictions(to stored: StoredSchedule.Task?) -> [String] {
        guard let stored else { return mayBeAbsent ? [] : ["an acknowledged registration is lost"] }
        var contradictions: [String] = []
        if !mayBePresent { contradictions.append("a task is there that nobody registered, or that was cancelled") }
        if cancelled.contains(stored.id) { contradictions.append("a cancelled task is there") }
        guard case .present(let promise) = knownState else { return contradictions }
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

    private mutating func objectToOther(_ promise: KnownTask) {
        if !mayBePresent { object("a task was there that nobody registered") }
        guard case .present(let known) = knownState, let id = known.id else { return }
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
