import Foundation

/// The state of a run in which devices leave, move and are matched again, according to what the clients received.
///
/// It has each device's tasks, and each device's last view of them. Only the device itself removes a task, whatever
/// happens to its partner.
///
/// Between two kills, when no request is in progress, the ledger is compared with the database and continues from the
/// stored data. Nothing stays uncertain for longer.
struct RematchLedger {
    typealias Key = TaskLedger.Key

    /// Whether there is a task, according to the answers to its device.
    enum State: Equatable {
        case absent
        case present(UUID)
        /// An answer was lost, or a series may have changed the task.
        case uncertain
    }

    /// A task as its device's day shows it.
    struct View: Equatable {
        let task: UUID
        let room: UUID
        let partner: String?
    }

    private(set) var states: [Key: State] = [:]
    /// The days of devices with a stream, as they read them after the last notification of a change.
    private(set) var views: [String: [Key: View]] = [:]
    private(set) var receipts: [String: [TaskLedger.Receipt]] = [:]
    private(set) var objections: [String] = []
    var invitations = InvitationLedger()
    var relations = RelationLedger()
    var erasures = ErasureLedger()
    var starts = StartLedger()
    var choices = ChoiceLedger()
    /// The history of each task, for the reader of a violation.
    private var trails: [Key: [String]] = [:]

    func state(_ key: Key) -> State { states[key] ?? .absent }

    /// Returns the tasks that a device certainly has, in order.
    func tasks(of device: String) -> [(slot: Int, id: UUID)] {
        states.compactMap { key, state in
            guard key.device == device, case .present(let id) = state else { return nil }
            return (key.slot, id)
        }.sorted { $0.slot < $1.slot }
    }

    // MARK: Answers

    /// Notes a `201` or `200` to a registration.
    mutating func registered(_ key: Key, _ id: UUID, isNew: Bool) {
        switch state(key) {
        case .present(let known) where isNew || known != id:
            object(key, "registered anew though it was there")
        case .absent where !isNew: object(key, "a task was there that nobody registered")
        case .absent, .present, .uncertain: break
        }
        settle(key, .present(id))
    }

    /// Notes that the slot has no such task, or none any more.
    mutating func found(_ key: Key, absentBecause reason: Absence) {
        if case .present = state(key), reason != .takenBack {
            object(key, "a task is gone that was registered: \(reason)")
        }
        settle(key, .absent)
    }

    enum Absence { case takenBack, notFound, refused }

    /// Notes a `200` to a move.
    mutating func moved(_ id: UUID, from old: Key, to new: Key) {
        if case .present = state(new) { object(new, "moved here, where it has another task") }
        settle(old, .absent)
        settle(new, .present(id))
    }

    /// Notes an erasure before it is requested. Returns the ids of the device's preferences and blocks, and of those
    /// about the device.
    mutating func erases(_ device: String) -> [UUID] {
        erasures.erases(device)
        return relations.erases(device)
    }

    /// Notes a `200` to an erasure.
    mutating func erased(_ device: String, relations known: [UUID]) {
        erasures.erased(device, tasks: tasks(of: device).map(\.id), relations: known, at: invitations.begin())
        relations.erased(device)
        for key in states.keys where key.device == device { settle(key, .absent) }
    }

    /// Notes a `409 slot_taken` to a move.
    mutating func taken(_ key: Key) {
        if state(key) == .absent { object(key, "is taken, by nothing") }
    }

    mutating func markUncertain(_ key: Key) {
        states[key] = .uncertain
        trails[key, default: []].append("uncertain")
    }

    /// A task stays uncertain, because the request without an answer may still take effect.
    private mutating func settle(_ key: Key, _ state: State) {
        trails[key, default: []].append("\(state)")
        if states[key] != .uncertain { states[key] = state }
    }

    mutating func object(_ text: String) { objections.append(text) }

    private mutating func object(_ key: Key, _ text: String) { object(describe(key, text)) }

    private func describe(_ key: Key, _ text: String) -> String {
        "\(key.device) at \(key.slot): \(text), after \(trails[key, default: []].suffix(8).joined(separator: ", "))"
    }

    // MARK: Streams

    mutating func received(_ receipt: TaskLedger.Receipt, by device: String) {
        receipts[device, default: []].append(receipt)
    }

    /// - Parameter seen: `nil` if the device's stream has ended, because the device then misses notifications.
    mutating func sees(_ device: String, _ seen: [Key: View]?) { views[device] = seen }

    // MARK: Judging

    /// Returns all violations. No request may be in progress.
    ///
    /// - Parameters:
    ///   - slots: The slots that the clients use. A series has tasks in other slots, too.
    ///   - hold: The number of seconds before the lead from which on a host may be matched with anybody.
    func violations(
        in stored: StoredSchedule, slots: ClosedRange<Int>, hold: Int, _ stage: StoredSchedule.Stage
    ) -> [String] {
        var violations = objections + stored.contradictions(stage, strangers: relations.strangers(in: stored))
        violations += relations.violations(in: stored) + erasures.violations(in: stored, slots: slots)
        violations += starts.violations(in: stored) + choices.violations(in: stored)
        // An absent user loses its partner to another, whether the two were matched by an invitation or not.
        if stage != .started { violations += invitations.violations(in: stored, hold: hold) }
        var tasks: [Key: StoredSchedule.Task] = [:]
        for task in stored.tasks where slots.contains(task.slot) && !task.isErased {
            tasks[Key(device: task.device, slot: task.slot)] = task
        }
        for key in Set(tasks.keys).union(states.keys) {
            switch (state(key), tasks[key]?.id) {
            case (.absent, let id?): violations.append(describe(key, "\(id) is there, and shouldn't be"))
            case (.present(let id), let other) where id != other:
                violations.append(describe(key, "the task \(id) is lost"))
            case (.absent, nil), (.present, _), (.uncertain, _): break
            }
        }
        return violations + deliveryViolations(in: stored)
    }

    private func deliveryViolations(in stored: StoredSchedule) -> [String] {
        var violations: [String] = []
        let devices = Dictionary(stored.tasks.map { ($0.id, $0.device) }) { first, _ in first }
        for reminder in stored.reminders where reminder.state == "delivered" {
            guard let device = devices[reminder.task], !device.isEmpty else { continue }
            if receipts[device]?.contains(where: { $0.id == reminder.id }) != true {
                violations.append("\(device) never received \(reminder.id)")
            }
        }
        for (device, receipts) in receipts {
            for (stream, receipts) in Dictionary(grouping: receipts, by: \.stream)
            where Set(receipts.map(\.id)).count < receipts.count {
                violations.append("\(device) received a reminder twice on stream \(stream)")
            }
        }
        return violations
    }

    /// Returns the tasks in `slots` of which a device with a stream has a wrong view.
    ///
    /// No daemon may have been killed since all devices read their days, because a killed daemon's pending
    /// notifications are lost.
    func misunderstandings(in stored: StoredSchedule, slots: ClosedRange<Int>) -> [String] {
        var facts: [String: [Key: View]] = [:]
        for task in stored.tasks where slots.contains(task.slot) && !task.isErased {
            facts[task.device, default: [:]][Key(device: task.device, slot: task.slot)] = View(
                task: task.id, room: task.room, partner: task.partnerDevice)
        }
        return views.flatMap { device, seen in
            let facts = facts[device] ?? [:]
            return Set(facts.keys).union(seen.keys).filter { slots.contains($0.slot) && facts[$0] != seen[$0] }.map {
                "\(device) at \($0.slot) believes \(seen[$0].map { "\($0)" } ?? "nothing"), and it is \(facts[$0].map { "\($0)" } ?? "nothing")"
            }
        }
    }

    /// Makes the stored data the basis of later checks.
    mutating func rebase(on stored: StoredSchedule, slots: ClosedRange<Int>) {
        invitations.rebase(on: stored)
        relations.rebase(on: stored)
        erasures.rebase(on: stored)
        states = [:]
        for task in stored.tasks where slots.contains(task.slot) && !task.isErased {
            let key = Key(device: task.device, slot: task.slot)
            states[key] = .present(task.id)
            trails[key, default: []].append("found \(task.id)")
        }
    }
}
