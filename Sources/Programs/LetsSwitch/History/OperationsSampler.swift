import Basics
import Rooms

/// Takes a ``Sample`` each second, and keeps those of the last minute, hour and day: of this daemon, and of all on its database that do so.
///
/// ```
/// each second:        readings ─► sample ─► own history
///                                    └─ with the others' latest ─► history of all
/// each five seconds:  the database: what is due; with other daemons also their samples, for ours
/// ```
actor OperationsSampler {
    private static let interval = Duration.seconds(1)
    private static let databaseInterval = Duration.seconds(5)
    /// What the database has said is believed for so long.
    private static let lifetime = Duration.seconds(15)

    private let id: DaemonID
    private let store: SampleStore
    /// How many other daemons are alive.
    private let others: @Sendable () -> Int
    private let timer = WakeableTimer()
    private var isStopping = false
    private var own = SampleHistory()
    private var all = SampleHistory()
    private var latest = Sample()
    private var told: Told?
    private var asking: Task<Void, Never>?
    private let began = MonotonicTime.now()

    /// What the database has said last.
    private struct Told {
        let at: MonotonicTime
        let due: (count: Int, late: Double)
        let samples: [Sample]
    }

    init(id: DaemonID, store: SampleStore, others: @escaping @Sendable () -> Int) {
        self.id = id
        self.store = store
        self.others = others
    }

    /// Works until ``stop()``.
    func run(_ read: @Sendable () async -> Readings) async {
        var last = await read()
        var nextQuestion = MonotonicTime.now()
        while !isStopping {
            if .now() >= nextQuestion, asking == nil {
                nextQuestion = .now() + Self.databaseInterval
                // A database that hangs holds no sample up.
                asking = Task { await self.ask() }
            }
            await timer.sleep(for: Self.interval - (.now() - last.at))
            guard !isStopping else { break }
            let readings = await read()
            take(readings.sample(since: last, due: told(at: readings.at)?.due), at: readings.at)
            last = readings
        }
        await asking?.value
    }

    func stop() async {
        isStopping = true
        await timer.wake()
    }

    private func take(_ sample: Sample, at now: MonotonicTime) {
        let second = Int((now - began) / .seconds(1))
        latest = sample
        own.add(sample, at: second)
        var joined = sample
        for other in told(at: now)?.samples ?? [] { joined.join(other) }
        all.add(joined, at: second)
    }

    private func ask() async {
        defer { asking = nil }
        guard let due = try? await store.dueSoon() else { return }
        let samples = others() > 0 ? (try? await store.share(latest, of: id)) ?? [] : []
        told = Told(at: .now(), due: due, samples: samples)
    }

    private func told(at now: MonotonicTime) -> Told? {
        told.flatMap { now - $0.at < Self.lifetime ? $0 : nil }
    }

    // MARK: For who looks

    /// Whose history.
    enum Scope: String, CaseIterable {
        case own, all
    }

    /// The points of every series, and how many daemons they are of.
    func points(
        _ scope: Scope, of span: SampleHistory.Span
    ) -> (daemons: Int, series: [(series: SampleSeries, points: [Double?])]) {
        let history = scope == .own ? own : all
        let daemons = scope == .own ? 1 : 1 + (told(at: .now())?.samples.count ?? 0)
        return (daemons, SampleSeries.all.map { ($0, history.points($0, of: span)) })
    }
}

/// The sampler, fed from the parts of the daemon.
struct SamplingService: Service {
    let sampler: OperationsSampler
    let sources: ReadingSources

    func run() async {
        await sampler.run(sources.read)
    }

    func stop(within limit: Duration) async {
        await sampler.stop()
    }
}
