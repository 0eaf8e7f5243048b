package import Domain
import Features
import FoundationEssentials
import Observability
import Postgres

/// Reports changes of a day to event streams: directly to those of this daemon, and through NOTIFY to those of other
/// daemons.
///
/// A slot that opens or closes concerns every device that shows it. A new title concerns only the devices of the task
/// and its partner. A device is notified without delay of changes to its own tasks. All others are notified of gathered
/// changes.
///
/// Changes are only hints: a reader that misses a change sees it when it loads its day. Changes are therefore gathered
/// and sent after the commit. A NOTIFY in each registration would make commits wait for each other. Leaving and moving
/// are rare and concern a partner, so the database notifies all daemons of them in the commit (`SQL/partners.sql`).
package actor ScheduleChanges {
    package static let channel = "letsswitch_schedule"
    /// The minimum time between two notifications of other daemons.
    private static let noticePause = Duration.milliseconds(100)
    /// The time for which changes of slots are gathered before this daemon's streams receive them.
    private static let pause = Duration.milliseconds(20)
    private static let notify = PostgresStatement(name: "notify", sql: "SELECT pg_notify($1, $2)")

    private let audience: any DayAudience
    private let send: @Sendable (String) async -> Void
    /// Identifies this daemon's own notifications.
    private let origin: String
    /// Gathered changes: `notices` for other daemons, `hints` for this daemon's streams.
    private var notices = GatheredChanges()
    private var hints = GatheredChanges()
    private var noticeWork: Task<Void, Never>?
    private var hintWork: Task<Void, Never>?

    init(client: PostgresClient, audience: any DayAudience, log: Log) {
        self.init(audience: audience) { payload in
            do {
                try await UnavailabilityRetries.run {
                    _ = try await client.query(Self.notify, [.text(Self.channel), .text(payload)])
                }
            } catch {
                log.warning("other daemons' streams miss changes of the day", ["error": .string("\(error)")])
            }
        }
    }

    /// - Parameter send: Notifies the other daemons.
    init(
        audience: any DayAudience, origin: String = String(UInt64.random(in: .min ... .max), radix: 36),
        send: @escaping @Sendable (String) async -> Void
    ) {
        self.audience = audience
        self.origin = origin
        self.send = send
    }

    /// Reports a committed change of a task.
    package func publish(_ change: ScheduleChange) {
        spread([
            GatheredChange(slot: change.startsAt, devices: change.devices, concernsAll: change.slotOpened != nil)
        ])
    }

    /// Reports slots that have opened or closed.
    package func slotsChanged(_ slots: [Instant]) {
        spread(slots.map { GatheredChange(slot: $0, devices: [], concernsAll: true) })
    }

    /// Reports any other change of the devices' own slot.
    package func dayChanged(of devices: [DeviceID], at start: Instant) {
        spread([GatheredChange(slot: start, devices: devices, concernsAll: false)])
    }

    private func spread(_ changes: [GatheredChange]) {
        gather(changes)
        for change in changes { notices.add(change) }
        if noticeWork == nil, !notices.isEmpty { noticeWork = Task { await self.notifyDaemons() } }
    }

    /// Handles a notification, which may be this daemon's own.
    package func receive(_ payload: String) {
        guard !audience.isEmpty, let changes = ChangeNotice.decode(payload, unlessFrom: origin) else { return }
        gather(changes)
    }

    private func gather(_ changes: [GatheredChange]) {
        guard !audience.isEmpty else { return }
        for change in changes {
            for device in change.devices { audience.dayChanged(of: device, at: change.slot) }
            if change.concernsAll { hints.add(change) }
        }
        if hintWork == nil, !hints.isEmpty { hintWork = Task { await self.notifyStreams() } }
    }

    private func notifyStreams() async {
        try? await Task.sleep(for: Self.pause)
        hintWork = nil
        audience.slotsChanged(hints.takeAll())
    }

    private func notifyDaemons() async {
        while let payload = ChangeNotice.take(from: &notices, origin: origin) {
            await send(payload)
            try? await Task.sleep(for: Self.noticePause)
        }
        noticeWork = nil
    }
}

extension ScheduleChanges: DayNotifier {}
