package import Domain
import Features
import FoundationEssentials
import Observability
import Postgres

/// Reports changes of a day to event streams: to this daemon's directly, and to others' through NOTIFY.
///
/// A slot that opens or closes concerns everyone who looks at it. A new title concerns only the two devices. A device
/// is notified at once of changes to its own tasks; all others are notified of gathered changes.
///
/// Changes are only hints: a reader that misses one sees it when it loads its day. They are therefore sent after the
/// commit and together, because a NOTIFY in each registration would make commits wait for each other. Leaving and
/// moving are rare and concern a partner. The database notifies all daemons of them in the commit
/// (`SQL/partners.sql`).
package actor ScheduleChanges {
    package static let channel = "letsswitch_schedule"
    /// The minimum time between two notifications.
    private static let noticePause = Duration.milliseconds(100)
    /// The time for which others' changes are gathered for this daemon's streams.
    private static let pause = Duration.milliseconds(20)
    private static let notify = PostgresStatement(name: "notify", sql: "SELECT pg_notify($1, $2)")

    private let audience: any DayAudience
    private let send: @Sendable (String) async -> Void
    /// Identifies own notifications.
    private let origin: String
    /// The changes for other daemons, and for streams here.
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

    /// Reports that something else of the devices' own slot has changed.
    package func dayChanged(of devices: [DeviceID], at start: Instant) {
        spread([GatheredChange(slot: start, devices: devices, concernsAll: false)])
    }

    private func spread(_ changes: [GatheredChange]) {
        gather(changes)
        for change in changes { notices.add(change) }
        if noticeWork == nil, !notices.isEmpty { noticeWork = Task { await self.notifyDaemons() } }
    }

    /// Handles a notification of another daemon, or an own one.
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
