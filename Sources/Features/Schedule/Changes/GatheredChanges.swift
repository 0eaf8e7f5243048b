import Domain

/// The changes of a slot since the last report.
struct GatheredChange: Equatable, Sendable {
    let slot: Instant
    /// The owners of the changed tasks. They are notified at once.
    var devices: [DeviceID]
    /// The devices that were notified of every change, and needn't be notified with all others.
    var known: [DeviceID]
    /// Whether the change also concerns everyone who looks at the slot.
    var concernsAll: Bool

    init(slot: Instant, devices: [DeviceID], concernsAll: Bool) {
        self.slot = slot
        self.devices = devices
        self.concernsAll = concernsAll
        known = devices
    }
}

/// Changes that wait to be reported together, one per slot. A value.
package struct GatheredChanges {
    /// The maximum number of waiting slots. Further changes aren't reported. They are only hints: a reader loads the
    /// whole day when it looks at it.
    package static let limit = 10_000
    /// The maximum number of devices listed with a slot. With more, the change is reported to everyone.
    static let devicesPerSlot = 16

    private var changes: [Instant: GatheredChange] = [:]

    var isEmpty: Bool { changes.isEmpty }

    mutating func add(_ change: GatheredChange) {
        guard var gathered = changes[change.slot] else {
            if changes.count < Self.limit { changes[change.slot] = change }
            return
        }
        gathered.known.removeAll { !change.known.contains($0) }
        for device in change.devices where !gathered.devices.contains(device) {
            if gathered.devices.count < Self.devicesPerSlot {
                gathered.devices.append(device)
            } else {
                gathered.concernsAll = true
            }
        }
        gathered.concernsAll = gathered.concernsAll || change.concernsAll
        changes[change.slot] = gathered
    }

    /// Takes all changes. Returns the devices that already know of the change, for each slot.
    mutating func takeAll() -> [Instant: [DeviceID]] {
        defer { changes = [:] }
        return changes.mapValues(\.known)
    }

    mutating func takeOne() -> GatheredChange? {
        changes.popFirst()?.value
    }
}
