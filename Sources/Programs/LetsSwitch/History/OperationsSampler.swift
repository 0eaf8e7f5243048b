import Basics
import Rooms

/// Takes a ``Sample`` every second, and keeps the samples of the last minute, hour and day. There is one history of
/// this daemon, and one of all daemons on its database that take samples.
///
/// ```
/// each second:        readings ─► sample ─► own history
///                                    └─ with the others' latest ─► history of all
/// each five seconds:  the database: what is due; with other daemons also their samples, for ours
/// ```
actor OperationsSampler {
    private static let interval = Duration.seconds(1)
    private static let databaseInterval = Duration.seconds(5)
    /// How long an answer of the database stays valid.
    private static let lifetime = Duration.seconds(15)

    private let id: DaemonID
    private let store: SampleStore
    /// Returns the number of other daemons.
    private let others: @Sendable () -> Int
    private let timer = WakeableTimer()
    private var isStopping = false
    private var own = SampleHistory()
    private var all = SampleHistory()
    private var latest = Sample()
    private var lastAnswer: Answer?
    private var asking: Task<Void, Never>?
    private let began = MonotonicTime.now()

    /// The last answer of the database.
    private struct Answer {
        let at: MonotonicTime
        let due: (count: Int, late: Double)
        let samples: [Sample]
    }

    init(id: DaemonID, store: SampleStore, others: @escaping @Sendable () -> Int) {
        self.id = id
        self.store = store
        self.others = others
    }

    /// Takes samples until ``stop()``.
    func run(_ read: @Sendable () async -> Readings) async {
        var last = await read()
        var nextQuestion = MonotonicTime.now()
        while !isStopping {
            if .now() >= nextQuestion, asking == nil {
                nextQuestion = .now() + Self.databaseInterval
                // A hanging database doesn't delay samples.
                asking = Task { await self.ask() }
            }
            await timer.sleep(for: Self.interval - (.now() - last.at))
            guard !isStopping else { break }
            let readings = await read()
            take(readings.sample(since: last, due: answer(at: readings.at)?.due), at: readings.at)
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
        for other in answer(at: now)?.samples ?? [] { joined.join(other) }
        all.add(joined, at: second)
    }

    private func ask() async {
        defer { asking = nil }
        guard let due = try? await store.dueSoon() else { return }
        let samples = others() > 0 ? (try? await store.share(latest, of: id)) ?? [] : []
        lastAnswer = Answer(at: .now(), due: due, samples: samples)
    }

    private func answer(at now: MonotonicTime) -> Answer? {
        lastAnswer.flatMap { now - $0.at < Self.lifetime ? $0 : nil }
    }

    // MARK: Reading

    /// The daemons that a history covers.
    enum Scope: String, CaseIterable {
        case own, all
    }

    /// Returns the points of every series, and the number of daemons that they cover.
    func points(
        _ scope: Scope, of span: SampleHistory.Span
    ) -> (daemons: Int, series: [(series: SampleSeries, points: [Double?])]) {
        let history = scope == .own ? own : all
        let daemons = scope == .own ? 1 : 1 + (answer(at: .now())?.samples.count ?? 0)
        return (daemons, SampleSeries.all.map { ($0, history.points($0, of: span)) })
    }
}

/// The sampler as a service, with readings from the parts of the daemon.
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
