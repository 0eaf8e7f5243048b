import FoundationEssentials
import Postgres

/// Tells the event streams whose day has changed: those of this daemon at once, those of others by NOTIFY.
///
/// A slot that opens or closes to others changes everybody's day; a title that changes concerns the two devices alone.
///
/// Hints only: a reader that misses one sees the change when it asks for its day. So they are sent after the commit, and many
/// together: a NOTIFY within each registration would make all commits wait for one another.
actor ScheduleChanges {
    static let channel = "letsswitch_schedule"
    /// Between two notifications.
    private static let pause = Duration.milliseconds(100)
    /// Slots and devices in one notification, whose payload has at most 8,000 bytes.
    private static let slotsPerNotice = 300
    private static let devicesPerNotice = 4
    /// Slots, and devices, that wait; more are not told to other daemons.
    private static let limit = 10_000
    private static let notify = PostgresStatement(name: "notify", sql: "SELECT pg_notify($1, $2)")

    private let client: PostgresClient
    private let streams: ReminderStreams
    /// Tells our own notifications from others'.
    private let origin = String(UInt64.random(in: .min ... .max), radix: 36)
    private var slots: Set<Instant> = []
    private var devices: [DeviceID: Instant] = [:]
    private var work: Task<Void, Never>?

    /// What one daemon tells the others.
    private struct Notice: Codable {
        let origin: String
        /// Seconds since the epoch.
        let slots: [Int]
        /// The slot that changed for each device.
        let devices: [String: Int]
    }

    init(client: PostgresClient, streams: ReminderStreams) {
        self.client = client
        self.streams = streams
    }

    /// A task was registered, changed or cancelled, and that is committed.
    func publish(_ change: ScheduleChange) {
        guard change.slotOpened == nil else { return publish([change.startsAt]) }
        for device in change.devices {
            streams.dayChanged(of: device, at: change.startsAt)
            if devices.count < Self.limit { devices[device] = change.startsAt }
        }
        tellOthersSoon()
    }

    /// These slots have opened or closed to others.
    func publish(_ slots: [Instant]) {
        guard !slots.isEmpty else { return }
        streams.slotsChanged(slots)
        if self.slots.count < Self.limit { self.slots.formUnion(slots) }
        tellOthersSoon()
    }

    /// Another daemon's notification, or our own come back.
    func heard(_ payload: String) {
        guard let notice = try? JSONDecoder().decode(Notice.self, from: Data(payload.utf8)), notice.origin != origin
        else { return }
        streams.slotsChanged(notice.slots.map(Instant.init(seconds:)))
        for (device, slot) in notice.devices {
            streams.dayChanged(of: DeviceID(stored: device), at: Instant(seconds: slot))
        }
    }

    private func tellOthersSoon() {
        if work == nil { work = Task { await self.tellOthers() } }
    }

    private func tellOthers() async {
        while !slots.isEmpty || !devices.isEmpty {
            let someSlots = slots.prefix(Self.slotsPerNotice)
            slots.subtract(someSlots)
            let someDevices = Array(devices.prefix(Self.devicesPerNotice))
            for (device, _) in someDevices { devices[device] = nil }
            let notice = Notice(
                origin: origin, slots: someSlots.map(\.seconds),
                devices: Dictionary(uniqueKeysWithValues: someDevices.map { ($0.key.text, $0.value.seconds) }))
            if let payload = try? JSONEncoder().encode(notice) {
                // Lost with the database: then nobody else could have read the change either.
                _ = try? await client.query(
                    Self.notify, [.text(Self.channel), .text(String(decoding: payload, as: UTF8.self))])
            }
            try? await Task.sleep(for: Self.pause)
        }
        work = nil
    }
}
