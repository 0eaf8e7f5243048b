import Foundation

/// The preferences and blocks of devices, according to the answers to their clients.
struct RelationLedger {
    typealias Relation = StoredSchedule.Relation

    enum Kind: String, CaseIterable {
        case preference = "preferences"
        case block = "blocks"
    }

    /// The known preferences and blocks, with their ids.
    private(set) var known: [Kind: [Relation: UUID]] = [:]
    /// Devices whose preferences or blocks are uncertain, because an answer was lost.
    private var uncertainDevices: [Kind: Set<String>] = [:]
    /// Devices that were erased since the last calm moment. Others' preferences and blocks of them may be gone.
    private var fading: Set<String> = []
    /// Devices of which one has ever blocked the other, or may have.
    private(set) var strangers: Set<Relation> = []
    /// The blocks at the last calm moment that weren't undone since, and the matches at that moment.
    private var remaining: Set<Relation> = []
    private var pairs: Set<Set<UUID>> = []
    private(set) var objections: [String] = []

    /// Returns the preferences or blocks of a device, in order.
    func own(_ kind: Kind, of device: String) -> [(other: String, id: UUID)] {
        known[kind, default: [:]].filter { $0.key.device == device }.map { ($0.key.other, $0.value) }
            .sorted { $0.other < $1.other }
    }

    // MARK: Answers

    /// Notes a `201` or `200` to a preference or block.
    mutating func made(_ kind: Kind, _ relation: Relation, _ id: UUID, isNew: Bool) {
        if let old = known[kind, default: [:]][relation], isNew || old != id,
            !uncertainDevices[kind, default: []].contains(relation.device), !fading.contains(relation.other)
        {
            objections.append("\(relation) was lost of the \(kind.rawValue)")
        }
        known[kind, default: [:]][relation] = id
        if kind == .block { strangers.insert(relation) }
    }

    /// Notes that a preference or block is undone, before the request.
    mutating func undoes(_ kind: Kind, _ relation: Relation) {
        if kind == .block { remaining.remove(relation) }
    }

    /// Notes a `200` or `404` to the request that undoes a preference or block.
    mutating func undone(_ kind: Kind, _ relation: Relation, wasThere: Bool) {
        if !wasThere, !uncertainDevices[kind, default: []].contains(relation.device), !fading.contains(relation.other) {
            objections.append("\(relation) is none of the \(kind.rawValue), which it was")
        }
        known[kind, default: [:]][relation] = nil
    }

    mutating func markUncertain(_ kind: Kind, of device: String) {
        uncertainDevices[kind, default: []].insert(device)
    }

    /// Notes an erasure before it is requested. Returns the ids of the preferences and blocks that it removes.
    mutating func erases(_ device: String) -> [UUID] {
        fading.insert(device)
        remaining = remaining.filter { $0.device != device && $0.other != device }
        return known.values.flatMap { $0.filter { $0.key.device == device || $0.key.other == device }.values }
    }

    /// Notes a `200` to an erasure.
    mutating func erased(_ device: String) {
        for kind in Kind.allCases {
            known[kind] = known[kind]?.filter { $0.key.device != device && $0.key.other != device }
        }
    }

    // MARK: Judging

    /// Returns the violations. No request may be in progress.
    func violations(in stored: StoredSchedule) -> [String] {
        var violations = objections
        for kind in Kind.allCases {
            let there = stored[kind]
            let uncertain = uncertainDevices[kind, default: []]
            let expected = known[kind, default: [:]]
            for relation in Set(there.keys).union(expected.keys)
            where there[relation] != expected[relation] && !uncertain.contains(relation.device)
                && !fading.contains(relation.other)
            {
                violations.append("\(relation) is \(there[relation] == nil ? "none " : "")of the \(kind.rawValue)")
            }
        }
        for task in stored.tasks {
            guard let partner = task.partner, let other = task.partnerDevice, !pairs.contains([task.id, partner]),
                remaining.contains(Relation(device: task.device, other: other))
            else { continue }
            violations.append("\(task.device) was given \(other) at \(task.slot), whom it had blocked")
        }
        return violations
    }

    /// Returns the devices that may wait in the same slot. An uncertain device may have blocked any other.
    func strangers(in stored: StoredSchedule) -> Set<Relation> {
        let uncertain = uncertainDevices[.block, default: []]
        return strangers.union(stored.blocks.keys).union(
            uncertain.flatMap { device in stored.tasks.map { Relation(device: device, other: $0.device) } })
    }

    /// Makes the stored data the basis of later checks.
    mutating func rebase(on stored: StoredSchedule) {
        for kind in Kind.allCases { known[kind] = stored[kind] }
        uncertainDevices = [:]
        fading = []
        strangers.formUnion(stored.blocks.keys)
        remaining = Set(stored.blocks.keys)
        pairs = Set(stored.tasks.compactMap { task in task.partner.map { [task.id, $0] } })
    }
}

extension StoredSchedule {
    fileprivate subscript(kind: RelationLedger.Kind) -> [Relation: UUID] {
        switch kind {
        case .preference: preferences
        case .block: blocks
        }
    }
}
