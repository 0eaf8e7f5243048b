package import Domain
import FoundationEssentials
package import Postgres
package import Scheduling

/// Tells the event streams whose day has changed: those of this daemon at once, those of others by NOTIFY.
///
/// A slot that opens or closes to others changes the day of everybody who looks at it; a title that changes concerns the two
/// devices alone. A device is told at once of what concerns its own tasks, everybody else gathered.
///
/// Hints only: a reader that misses one sees the change when it asks for its day. So they are sent after the commit, and many
/// together: a NOTIFY within each registration would make all commits wait for one another. Whoever leaves or moves is rare, and somebody
/// is let down: of those the database tells every daemon itself, with the commit (SQL/partners.sql of Scheduling).
package actor ScheduleChanges {
    package static let channel = "letsswitch_schedule"
    /// Between two notifications.
    private static let noticePause = Duration.milliseconds(100)
    /// For which changes are gathered before this daemon's own streams are told of others' tasks.
    private static let pause = Duration.milliseconds(20)
    private static let notify = PostgresStatement(name: "notify", sql: "SELECT pg_notify($1, $2)")

    private let streams: EventStreams
    private let send: @Sendable (String) async -> Void
    /// Tells our own notifications from others'.
    private let origin: String
    /// What other daemons are to be told, and what streams here.
    private var notices = GatheredChanges()
    private var hints = GatheredChanges()
    private var noticeWork: Task<Void, Never>?
    private var hintWork: Task<Void, Never>?

    package init(client: PostgresClient, streams: EventStreams) {
        self.init(streams: streams) { payload in
            // Lost with the database: then nobody else could have read the change either.
            _ = try? await client.query(Self.notify, [.text(Self.channel), .text(payload)])
        }
    }

    /// - Parameter send: Notifies the other daemons.
    init(
        streams: EventStreams, origin: String = String(UInt64.random(in: .min ... .max), radix: 36),
        send: @escaping @Sendable (String) async -> Void
    ) {
        self.streams = streams
        self.origin = origin
        self.send = send
    }

    /// A task was registered, changed or cancelled, and that is committed.
    package func publish(_ change: ScheduleChange) {
        spread([
            GatheredChange(slot: change.startsAt, devices: change.devices, concernsAll: change.slotOpened != nil)
        ])
    }

    /// These slots have opened or closed to others.
    package func publish(_ slots: [Instant]) {
        spread(slots.map { GatheredChange(slot: $0, devices: [], concernsAll: true) })
    }

    private func spread(_ changes: [GatheredChange]) {
        tell(changes)
        for change in changes { notices.add(change) }
        if noticeWork == nil, !notices.isEmpty { noticeWork = Task { await self.tellOthers() } }
    }

    /// Another daemon's notification, or our own come back.
    package func receive(_ payload: String) {
        guard !streams.isEmpty, let changes = ChangeNotice.decode(payload, unlessFrom: origin) else { return }
        tell(changes)
    }

    private func tell(_ changes: [GatheredChange]) {
        guard !streams.isEmpty else { return }
        for change in changes {
            for device in change.devices { streams.dayChanged(of: device, at: change.slot) }
            if change.concernsAll { hints.add(change) }
        }
        if hintWork == nil, !hints.isEmpty { hintWork = Task { await self.tellStreams() } }
    }

    private func tellStreams() async {
        try? await Task.sleep(for: Self.pause)
        hintWork = nil
        streams.slotsChanged(hints.takeAll())
    }

    private func tellOthers() async {
        while let payload = ChangeNotice.take(from: &notices, origin: origin) {
            await send(payload)
            try? await Task.sleep(for: Self.noticePause)
        }
        noticeWork = nil
    }
}
