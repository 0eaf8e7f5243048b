import Domain

/// What has changed in a slot since somebody was told last.
struct GatheredChange: Equatable, Sendable {
    let slot: Instant
    /// Whose own tasks it concerns: they are told at once.
    var devices: [DeviceID]
    /// Those of them who were told of all of it: they need not be told with all others.
    var known: [DeviceID]
    /// Whether it concerns all who look at the slot, too.
    var concernsAll: Bool

    init(slot: Instant, devices: [DeviceID], concernsAll: Bool) {
        self.slot = slot
        self.devices = devices
        self.concernsAll = concernsAll
        known = devices
    }
}

/// Changes that wait to be told together, one a slot. A value.
struct GatheredChanges {
    /// Slots that wait; of more, nobody is told. They are hints: whoever looks at a day asks for all of it.
    static let limit = 10_000
    /// Devices named with a slot; with more, the slot's change is everybody's.
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

    /// All that waits: by slot, the devices that need not be told.
    mutating func takeAll() -> [Instant: [DeviceID]] {
        defer { changes = [:] }
        return changes.mapValues(\.known)
    }

    mutating func takeOne() -> GatheredChange? {
        changes.popFirst()?.value
    }
}
