import Foundation

/// Who was erased in a run of partings, and what there was of them, by what their clients were told.
struct ErasureLedger {
    /// When a person was last erased: at any time while the answer isn't there, or is lost.
    private var ended: [String: Int] = [:]
    /// Their tasks, of which there may be a match with nobody still; and when they were gone.
    private var tasks: [UUID: Int] = [:]
    /// Preferences and blocks, their own and those of them.
    private var regards: Set<UUID> = []
    /// Who has been erased, and has begun no series since.
    private var seriesless: Set<String> = []
    /// Who may be about to begin one.
    private var beginning: Set<String> = []
    /// When the requests were begun that made tasks.
    private var requests: [UUID: Int] = [:]
    /// Whom the erased were partners of, when all was calm.
    private var partners: [UUID: UUID] = [:]

    // MARK: Answers

    /// Before it is asked for.
    mutating func erases(_ device: String) { ended[device] = .max }

    /// `200`.
    ///
    /// - Parameters:
    ///   - tasks: Those that the device had for certain.
    ///   - regards: Those that were known before it was asked for.
    mutating func erased(_ device: String, tasks own: [UUID], regards known: [UUID], at time: Int) {
        ended[device] = time
        for task in own { tasks[task] = time }
        regards.formUnion(known)
        if !beginning.contains(device) { seriesless.insert(device) }
    }

    /// Whether a person may have been erased after this time.
    func mayErase(_ device: String, after time: Int) -> Bool { ended[device, default: 0] > time }

    /// `201` to a registration.
    mutating func made(_ task: UUID, began: Int) { requests[task] = began }

    /// Before a series is asked for.
    mutating func beginsSeries(_ device: String) {
        beginning.insert(device)
        seriesless.remove(device)
    }

    /// It was answered.
    mutating func hasBegunSeries(_ device: String) { beginning.remove(device) }

    // MARK: Judging

    /// For a moment at which nothing is under way.
    ///
    /// - Parameter slots: Those that the clients know of; of others only a series makes tasks.
    func violations(in stored: StoredSchedule, slots: ClosedRange<Int>) -> [String] {
        var violations = stored.erasing.sorted().map { "\($0) is being erased still" }
        for task in stored.tasks {
            if let gone = tasks[task.id] {
                if !task.isErased { violations.append("\(task.device) was erased, and its task \(task.id) is there") }
                if let partner = task.partner, requests[partner, default: 0] > gone {
                    violations.append(
                        "\(task.partnerDevice ?? "somebody") was paired with \(task.id), which was erased")
                }
            }
            if let before = partners[task.id], task.partner != before {
                violations.append(
                    "\(task.partnerDevice ?? "somebody") was paired anew with \(task.id), which was erased")
            }
            if seriesless.contains(task.device), !slots.contains(task.slot) {
                violations.append("\(task.device) was erased, and has a task at \(task.slot)")
            }
        }
        violations += seriesless.intersection(stored.series).sorted().map { "\($0) was erased, and has a series" }
        for (regard, id) in Array(stored.blocks) + Array(stored.preferences) where regards.contains(id) {
            violations.append("\(regard) is there, and one of them was erased")
        }
        return violations
    }

    /// From now on what is there counts.
    mutating func rebase(on stored: StoredSchedule) {
        beginning = []
        for (device, time) in ended where time == .max { ended[device] = 0 }
        partners = [:]
        for task in stored.tasks where task.isErased { partners[task.id] = task.partner }
    }
}
