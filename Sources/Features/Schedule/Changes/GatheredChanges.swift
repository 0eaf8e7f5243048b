import Domain

/// The changes of a slot since the last report.
struct GatheredChange: Equatable, Sendable {
    let slot: Instant
    /// The owners of the changed tasks, who are notified without delay.
    var devices: [DeviceID]
    /// The devices that were notified of every change. When all others are notified, these devices are left out.
    var known: [DeviceID]
    /// Whether the change also concerns every other device that shows the slot.
    var concernsAll: Bool

    init(slot: Instant, devices: [DeviceID], concernsAll: Bool) {
        self.slot = slot
        self.devices = devices
        self.concernsAll = concernsAll
        known = devices
    }
}

/// Changes that wait to be reported together, one per slot. A value type.
package struct GatheredChanges {
    /// The maximum number of waiting slots. Changes of further slots aren't reported. Changes are only hints: a reader
    /// loads the whole day when the user looks at it.
    package static let limit = 10_000
    /// The maximum length of ``GatheredChange/devices``. If the owners of a slot's changed tasks are more, the change
    /// is reported to all devices that show the slot.
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

    /// Removes and returns all changes: each slot with the devices that already know of its change.
    mutating func takeAll() -> [Instant: [DeviceID]] {
        defer { changes = [:] }
        return changes.mapValues(\.known)
    }

    mutating func takeOne() -> GatheredChange? {
        changes.popFirst()?.value
    }
}
