import Foundation

/// The erasures of a rematch run, and the data that must be gone, according to the answers to the clients.
struct ErasureLedger {
    /// The time of each device's last erasure; `Int.max` while its answer is outstanding or lost.
    private var ended: [String: Int] = [:]
    /// The tasks of erased devices, and the time of their erasure. A match may remain, without the device.
    private var tasks: [UUID: Int] = [:]
    /// The preferences and blocks of erased devices, and those about them.
    private var relations: Set<UUID> = []
    /// Devices that were erased and haven't begun a series since.
    private var seriesless: Set<String> = []
    /// Devices that have requested a series and have no answer.
    private var beginning: Set<String> = []
    /// The times at which the requests began that made tasks.
    private var requests: [UUID: Int] = [:]
    /// The partners of erased tasks at the last calm moment.
    private var partners: [UUID: UUID] = [:]

    // MARK: Answers

    /// Notes an erasure before it is requested.
    mutating func erases(_ device: String) { ended[device] = .max }

    /// Notes a `200` to an erasure.
    ///
    /// - Parameters:
    ///   - tasks: The tasks that the device certainly had.
    ///   - relations: The preferences and blocks that were known before the request.
    mutating func erased(_ device: String, tasks own: [UUID], relations known: [UUID], at time: Int) {
        ended[device] = time
        for task in own { tasks[task] = time }
        relations.formUnion(known)
        if !beginning.contains(device) { seriesless.insert(device) }
    }

    /// Returns whether a device may have been erased after this time.
    func mayErase(_ device: String, after time: Int) -> Bool { ended[device, default: 0] > time }

    /// Notes a `201` to a registration.
    mutating func made(_ task: UUID, began: Int) { requests[task] = began }

    /// Notes a series before it is requested.
    mutating func beginsSeries(_ device: String) {
        beginning.insert(device)
        seriesless.remove(device)
    }

    /// Notes the answer to a request for a series.
    mutating func hasBegunSeries(_ device: String) { beginning.remove(device) }

    // MARK: Judging

    /// Returns the violations. No request may be in progress.
    ///
    /// - Parameter slots: The slots that the clients use. Tasks in other slots come only from series.
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
        for (relation, id) in Array(stored.blocks) + Array(stored.preferences) where relations.contains(id) {
            violations.append("\(relation) is there, and one of them was erased")
        }
        return violations
    }

    /// Makes the stored data the basis of later checks.
    mutating func rebase(on stored: StoredSchedule) {
        beginning = []
        for (device, time) in ended where time == .max { ended[device] = 0 }
        partners = [:]
        for task in stored.tasks where task.isErased { partners[task.id] = task.partner }
    }
}
