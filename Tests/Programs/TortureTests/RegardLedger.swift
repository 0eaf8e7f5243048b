import Foundation

/// Whom devices prefer, or have blocked, by what their clients were told.
struct RegardLedger {
    typealias Regard = StoredSchedule.Regard

    enum Kind: String, CaseIterable {
        case preference = "preferences"
        case block = "blocks"
    }

    /// What is listed, by its id.
    private(set) var known: [Kind: [Regard: UUID]] = [:]
    /// Of whom it isn't known, since an answer was lost.
    private var doubtful: [Kind: Set<String>] = [:]
    /// Who was erased since all was calm: what others were told of one of these may be gone by then.
    private var fading: Set<String> = []
    /// Who has ever blocked somebody, or may have.
    private(set) var strangers: Set<Regard> = []
    /// What was blocked when all was calm, and hasn't been undone since; and which tasks were a pair then.
    private var standing: Set<Regard> = []
    private var pairs: Set<Set<UUID>> = []
    private(set) var objections: [String] = []

    /// What a device has, in order.
    func own(_ kind: Kind, of device: String) -> [(other: String, id: UUID)] {
        known[kind, default: [:]].filter { $0.key.device == device }.map { ($0.key.other, $0.value) }
            .sorted { $0.other < $1.other }
    }

    // MARK: Answers

    /// `201` or `200`.
    mutating func made(_ kind: Kind, _ regard: Regard, _ id: UUID, isNew: Bool) {
        if let old = known[kind, default: [:]][regard], isNew || old != id,
            !doubtful[kind, default: []].contains(regard.device), !fading.contains(regard.other)
        {
            objections.append("\(regard) was lost of the \(kind.rawValue)")
        }
        known[kind, default: [:]][regard] = id
        if kind == .block { strangers.insert(regard) }
    }

    /// Before it is asked for.
    mutating func undoes(_ kind: Kind, _ regard: Regard) {
        if kind == .block { standing.remove(regard) }
    }

    /// `200`, or `404`.
    mutating func undone(_ kind: Kind, _ regard: Regard, wasThere: Bool) {
        if !wasThere, !doubtful[kind, default: []].contains(regard.device), !fading.contains(regard.other) {
            objections.append("\(regard) is none of the \(kind.rawValue), which it was")
        }
        known[kind, default: [:]][regard] = nil
    }

    mutating func doubt(_ kind: Kind, of device: String) {
        doubtful[kind, default: []].insert(device)
    }

    /// Before somebody is erased, with whom all of them go. Returns their ids.
    mutating func erases(_ device: String) -> [UUID] {
        fading.insert(device)
        standing = standing.filter { $0.device != device && $0.other != device }
        return known.values.flatMap { $0.filter { $0.key.device == device || $0.key.other == device }.values }
    }

    /// `200`.
    mutating func erased(_ device: String) {
        for kind in Kind.allCases {
            known[kind] = known[kind]?.filter { $0.key.device != device && $0.key.other != device }
        }
    }

    // MARK: Judging

    /// For a moment at which nothing is under way.
    func violations(in stored: StoredSchedule) -> [String] {
        var violations = objections
        for kind in Kind.allCases {
            let there = stored[kind]
            let unsure = doubtful[kind, default: []]
            let told = known[kind, default: [:]]
            for regard in Set(there.keys).union(told.keys)
            where there[regard] != told[regard] && !unsure.contains(regard.device) && !fading.contains(regard.other) {
                violations.append("\(regard) is \(there[regard] == nil ? "none " : "")of the \(kind.rawValue)")
            }
        }
        for task in stored.tasks {
            guard let partner = task.partner, let other = task.partnerDevice, !pairs.contains([task.id, partner]),
                standing.contains(Regard(device: task.device, other: other))
            else { continue }
            violations.append("\(task.device) was given \(other) at \(task.slot), whom it had blocked")
        }
        return violations
    }

    /// Those who may wait beside one another: of devices in doubt it may be anybody.
    func strangers(in stored: StoredSchedule) -> Set<Regard> {
        let unsure = doubtful[.block, default: []]
        return strangers.union(stored.blocks.keys).union(
            unsure.flatMap { device in stored.tasks.map { Regard(device: device, other: $0.device) } })
    }

    /// From now on what is there counts.
    mutating func rebase(on stored: StoredSchedule) {
        for kind in Kind.allCases { known[kind] = stored[kind] }
        doubtful = [:]
        fading = []
        strangers.formUnion(stored.blocks.keys)
        standing = Set(stored.blocks.keys)
        pairs = Set(stored.tasks.compactMap { task in task.partner.map { [task.id, $0] } })
    }
}

extension StoredSchedule {
    fileprivate subscript(kind: RegardLedger.Kind) -> [Regard: UUID] {
        switch kind {
        case .preference: preferences
        case .block: blocks
        }
    }
}
