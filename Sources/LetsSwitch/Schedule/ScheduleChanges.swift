import Postgres

/// Tells the event streams that slots have changed: those of this daemon at once, those of others by NOTIFY.
///
/// Hints only: a reader that misses one sees the change when it asks for its day. So they are sent after the commit, and many
/// together: a NOTIFY within each registration would make all commits wait for one another.
actor ScheduleChanges {
    static let channel = "letsswitch_schedule"
    /// Between two notifications.
    private static let pause = Duration.milliseconds(100)
    /// Slots in one notification, whose payload has at most 8,000 bytes.
    private static let perNotification = 500
    /// Slots that wait; more are not told to other daemons.
    private static let limit = 10_000
    private static let notify = PostgresStatement(name: "notify", sql: "SELECT pg_notify($1, $2)")

    private let client: PostgresClient
    private let streams: ReminderStreams
    /// Tells our own notifications from others'.
    private let origin = String(UInt64.random(in: .min ... .max), radix: 36)
    private var waiting: Set<Instant> = []
    private var work: Task<Void, Never>?

    init(client: PostgresClient, streams: ReminderStreams) {
        self.client = client
        self.streams = streams
    }

    /// These slots have changed, and the change is committed.
    func publish(_ slots: [Instant]) {
        guard !slots.isEmpty else { return }
        streams.slotsChanged(slots)
        guard waiting.count < Self.limit else { return }
        waiting.formUnion(slots)
        if work == nil { work = Task { await self.tellOthers() } }
    }

    /// Another daemon's notification, or our own come back.
    func heard(_ payload: String) {
        let parts = payload.split(separator: " ")
        guard let sender = parts.first, sender != origin else { return }
        streams.slotsChanged(parts.dropFirst().compactMap { Int($0).map(Instant.init(seconds:)) })
    }

    private func tellOthers() async {
        while !waiting.isEmpty {
            let slots = waiting.prefix(Self.perNotification)
            waiting.subtract(slots)
            let payload = ([origin] + slots.map { String($0.seconds) }).joined(separator: " ")
            // Lost with the database: then nobody else could have read the change either.
            _ = try? await client.query(Self.notify, [.text(Self.channel), .text(payload)])
            try? await Task.sleep(for: Self.pause)
        }
        work = nil
    }
}
