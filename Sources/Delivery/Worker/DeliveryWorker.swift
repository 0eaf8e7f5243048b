import Basics
import Domain
import FoundationEssentials
import Observability
import Postgres

/// Feeds one provider from the database: takes what is due, a few at a time, and writes what became of it.
///
/// ```
/// NOTIFY, own timer ──► lease ──► stock ──► send (some at once) ──► finished ──► finish
///                          └─ renewed every few seconds while it is in hand ─┘
/// ```
///
/// Each provider has its own, so that one that hangs keeps nobody else waiting. Several daemons share the work: what one has leased
/// is nobody else's, and everybody's again when the lease ends because the daemon has died.
actor DeliveryWorker {
    /// The longest sleep: then the database is asked, which notices a clock that drifted and a connection that died.
    private static let heartbeat = Duration.seconds(15)
    /// After an error of the database.
    private static let retryPause = Duration.milliseconds(500)
    /// Events that may wait for a provider that is away; the oldest go first.
    private static let keep = 250_000
    /// As many as are counted, so perhaps far more wait; looked after so often, and so many go at a time.
    private static let trimFrom = 10_000
    private static let trimInterval = Duration.seconds(60)
    /// For what a server has too much of.
    private static let excessPause = Duration.seconds(1)
    /// The longest rest; then the provider is tried again.
    private static let longestPause = Duration.seconds(900)

    nonisolated let metrics: DeliveryMetrics
    private let provider: any DeliveryProvider
    private let store: DeliveryStore
    /// Told of reminders that were delivered by this provider first.
    private let delivered: @Sendable (Int) -> Void
    /// How long a daemon that has died keeps its deliveries from others. Renewed each quarter of it.
    private let lease: Duration
    private let log: Log
    private let timer = WakeableTimer()

    private var leases = LeasedDeliveries()
    private var standing = ProviderStanding.starting
    private var permits: AttemptLimiter
    private var origins: OriginConcurrencyLimiter
    /// By the first delivery of each.
    private var sending: [Int: Task<Void, Never>] = [:]
    private var finished: [FinishedDelivery] = []
    private var finishing: Task<Void, Never>?
    /// While anything is in hand.
    private var renewing: Task<Void, Never>?
    private var restsUntil: MonotonicTime?
    private var trimAt = MonotonicTime.now()
    private var isAway = false
    private var isStopping = false

    init(
        _ provider: any DeliveryProvider, store: DeliveryStore, log: Log,
        lease: Duration = .seconds(8), delivered: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.provider = provider
        self.store = store
        self.log = log
        self.lease = lease
        permits = AttemptLimiter(count: provider.concurrency)
        origins = OriginConcurrencyLimiter(places: provider.concurrency)
        self.delivered = delivered
        metrics = DeliveryMetrics(provider.name)
    }

    nonisolated var name: ProviderName { metrics.name }

    /// There may be something to send.
    nonisolated func wake() {
        Task { await timer.wake() }
    }

    /// Tells the database that this daemon serves the provider: from then on whoever claims a task writes its deliveries.
    func enter() async throws {
        guard case .starting = standing else { return }
        standing = .serving(start: try await store.start(name))
    }

    /// Works until ``stop(within:)``.
    func run() async {
        defer { renewing?.cancel() }
        while !isStopping {
            do {
                let pause = try await pass()
                if isAway {
                    isAway = false
                    log.info("the channel has the database again", ["channel": .string(name.rawValue)])
                }
                await timer.sleep(for: pause)
            } catch {
                if !isAway {
                    isAway = true
                    log.warning(
                        "a channel waits for the database",
                        ["channel": .string(name.rawValue), "error": .string("\(error)")])
                }
                await timer.sleep(for: Self.retryPause)
            }
        }
        // What the last lease brought was given back.
        await finishing?.value
    }

    // MARK: Taking

    /// Takes what there is room for.
    ///
    /// - Returns: How long nothing is to be done, unless somebody wakes us.
    private func pass() async throws -> Duration {
        guard try await isServing() else { return Self.heartbeat }
        if let rest = restsUntil.map({ $0 - .now() }), rest > .zero { return min(rest, Self.heartbeat) }
        if restsUntil != nil {
            restsUntil = nil
            metrics.rests(false)
            log.info("a channel is tried again", ["channel": .string(name.rawValue)])
        }
        let limits = LeaseLimits(
            inHand: leases.urgentCount, others: leases.count - leases.urgentCount, concurrency: provider.concurrency,
            batch: provider.batchLimit)
        guard !limits.isEmpty else { return Self.heartbeat }
        let asked = MonotonicTime.now()
        let leased = try await store.lease(name, limits, for: lease)
        take(leased, at: asked)
        guard !limits.isReached(by: leased.count) else { return .zero }
        let next = try await store.next(name)
        metrics.isWaiting(next.waiting)
        if next.waiting >= Self.trimFrom, trimAt <= .now() {
            let dropped = try await store.drop(name, keep: Self.keep, limit: Self.trimFrom)
            count(.dropped, dropped)
            if dropped < Self.trimFrom { trimAt = .now() + Self.trimInterval }
        }
        guard let due = next.due(within: limits) else { return Self.heartbeat }
        return min(Self.heartbeat, max(.milliseconds(5), .seconds(saturating: due - next.now)))
    }

    /// Whether there is anything to be done. What the database doesn't know yet of the service is said to it first.
    private func isServing() async throws -> Bool {
        switch standing {
        case .starting: try await enter()
        case .serving: break
        case .turnedAway(let start):
            standing = .off(isForAll: try await store.turnAway(name, start: start))
            return try await isServing()
        case .off(true): try await clear()
        case .off(false): break
        }
        return standing.isServing
    }

    private func take(_ leased: DeliveryStore.Leased, at asked: MonotonicTime) {
        count(.expired, leased.expired)
        settle(leased.orphans.map { FinishedDelivery(id: $0, attempt: 0, decision: .dropped(.orphaned)) })
        leases.take(leased.deliveries, at: asked, for: lease, origin: provider.origin)
        if renewing == nil, !leases.isEmpty { renewing = Task { await self.keepRenewing() } }
        // Much may have happened while the database was asked.
        if isStopping || !standing.isServing {
            release(leases.clearStock(), after: .zero)
        } else if let restsUntil {
            release(leases.clearStock(), after: max(.zero, restsUntil - .now()))
        } else {
            sendMore()
            release(leases.clearExcess { origins.share(of: $0) }, after: Self.excessPause)
        }
    }

    private func sendMore() {
        guard !isStopping, restsUntil == nil, standing.isServing else { return }
        let now = MonotonicTime.now()
        while permits.taken < permits.count {
            let first = take(at: now) { [permits, origins] delivery, origin in
                permits.admits(isUrgent: delivery.isUrgent) && origins.admits(origin, isUrgent: delivery.isUrgent)
            }
            guard let first else { break }
            send([first] + companions(of: first, at: now), at: now)
        }
        metrics.isSending(sending.count)
    }

    /// The next one out of the stock that may go. What goes no more is finished on the way.
    private func take(at now: MonotonicTime, admits: (Delivery, String?) -> Bool) -> Delivery? {
        while let next = leases.next(at: now, admits: admits) {
            switch next {
            case .send(let delivery): return delivery
            case .late(let delivery):
                settle([FinishedDelivery(id: delivery.id, attempt: delivery.attempt, decision: .dropped(.expired))])
            case .lost: wake()
            }
        }
        return nil
    }

    /// What goes together with it: the same kind, to the same server. With each attempt half as many, so that one that its receiver
    /// can't take doesn't keep the others from it.
    private func companions(of first: Delivery, at now: MonotonicTime) -> [Delivery] {
        let limit = provider.batchLimit >> min(first.attempt - 1, Int.bitWidth - 1)
        let server = leases.origin(of: first)
        var companions: [Delivery] = []
        while companions.count + 1 < limit,
            let next = take(
                at: now,
                admits: { $0.isUrgent == first.isUrgent && $0.attempt == first.attempt && $1 == server })
        {
            companions.append(next)
        }
        return companions
    }

    /// One attempt.
    private func send(_ deliveries: [Delivery], at now: MonotonicTime) {
        let first = deliveries[0]
        permits.begin(isUrgent: first.isUrgent)
        origins.begin(leases.origin(of: first))
        sending[first.id] = Task { [provider] in
            let outcome =
                provider.batchLimit > 1 ? await provider.send(together: deliveries) : await provider.send(first)
            self.sent(deliveries, outcome, took: .now() - now)
        }
    }

    // MARK: What became of it

    private func sent(_ deliveries: [Delivery], _ outcome: AttemptOutcome, took: Duration) {
        let first = deliveries[0]
        sending[first.id] = nil
        permits.end(isUrgent: first.isUrgent)
        origins.end(leases.origin(of: first), after: took)
        metrics.latency.observe(took)
        switch outcome {
        case .paused(let pause, let reason): rest(for: pause, reason)
        case .gone(let reason) where first.address.isEmpty: leave(reason)
        default: break
        }
        settle(
            deliveries.map { delivery in
                let decision = decision(of: delivery, outcome, took: took)
                record(delivery, outcome, decision)
                return FinishedDelivery(id: delivery.id, attempt: delivery.attempt, decision: decision)
            })
        sendMore()
        if !leases.hasStock, !isStopping { wake() }
    }

    private func decision(of delivery: Delivery, _ outcome: AttemptOutcome, took: Duration) -> RetryDecision {
        // Whoever serves the provider after us may have another server.
        if case .gone = outcome, delivery.address.isEmpty { return .again(after: .zero, counts: false) }
        let decision = RetryDecision(of: delivery, outcome, age: took, random: .random(in: 0..<1))
        if isStopping, case .again(_, let counts) = decision { return .again(after: .zero, counts: counts) }
        return decision
    }

    private func record(_ delivery: Delivery, _ outcome: AttemptOutcome, _ decision: RetryDecision) {
        let reason: String? =
            switch outcome {
            case .accepted: nil
            case .gone(let reason), .refused(let reason), .retry(_, let reason), .paused(_, let reason): reason
            }
        let level: LogLevel =
            switch decision {
            case .accepted, .again: .debug
            case .gone: .info
            case .dropped: .warning
            }
        log.log(
            level, "delivery",
            [
                "channel": .string(name.rawValue), "event": .string(delivery.event),
                "id": .string(delivery.messageId.uuidString), "attempt": .int(delivery.attempt),
                "outcome": .string(decision.result.rawValue), "reason": .string(reason ?? ""),
            ])
    }

    /// The fault is the provider's own: what is in stock waits with it.
    private func rest(for pause: Duration, _ reason: String) {
        let pause = min(max(pause, RetryDecision.shortestWait), Self.longestPause)
        let until = MonotonicTime.now() + pause
        guard until > restsUntil ?? .now() else { return }
        if restsUntil == nil {
            log.error(
                "a channel rests",
                [
                    "channel": .string(name.rawValue), "reason": .string(reason),
                    "seconds": .int(Int(pause / .seconds(1))),
                ])
        }
        restsUntil = until
        metrics.rests(true)
        release(leases.clearStock(), after: pause)
    }

    /// Gives back what wasn't sent.
    private func release(_ deliveries: [Delivery], after pause: Duration) {
        settle(
            deliveries.map {
                FinishedDelivery(id: $0.id, attempt: $0.attempt, decision: .again(after: pause, counts: false))
            })
    }

    /// The provider was turned away for good.
    private func leave(_ reason: String) {
        guard case .serving(let start) = standing else { return }
        standing = .turnedAway(start: start)
        metrics.rests(true)
        log.error(
            "a channel is off until the next start",
            ["channel": .string(name.rawValue), "reason": .string(reason)])
        release(leases.clearStock(), after: .zero)
        wake()
    }

    /// Deletes what waits for a provider that is off.
    private func clear() async throws {
        while !isStopping {
            let cleared = try await store.clear(name, limit: 10_000)
            guard cleared > 0 else { return }
            count(.dropped, cleared)
        }
    }

    private func count(_ result: DeliveryResult, _ number: Int) {
        if number > 0 { metrics.results.add(result, number) }
    }

    // MARK: The database

    private func settle(_ more: [FinishedDelivery]) {
        guard !more.isEmpty else { return }
        for finished in more { metrics.results.add(finished.decision.result) }
        finished += more
        if finishing == nil { finishing = Task { await self.finish() } }
    }

    /// Writes what is finished, many at a time, until nothing is.
    private func finish() async {
        var failures = 0
        while !finished.isEmpty {
            let batch = Array(finished.prefix(LeaseLimits.perStatement))
            do {
                delivered(try await store.finish(batch).count)
                failures = 0
            } catch let error as PostgresError where error.isUnavailable && !isStopping {
                // Writing it twice is harmless, so an unknown outcome is no matter.
                try? await Task.sleep(for: Self.retryPause)
                continue
            } catch {
                failures += 1
                log.error(
                    "what became of deliveries can't be written",
                    ["channel": .string(name.rawValue), "error": .string("\(error)")])
                // Their leases end, and they are sent again.
                if failures < 3, !isStopping {
                    try? await Task.sleep(for: Self.retryPause)
                    continue
                }
            }
            finished.removeFirst(batch.count)
            for finished in batch { leases.letGo(finished.id) }
        }
        finishing = nil
        if !isStopping { wake() }
    }

    private func keepRenewing() async {
        while !leases.isEmpty, !Task.isCancelled {
            try? await Task.sleep(for: lease / 4)
            // As after a standstill: whoever asks first has it, and that may be us.
            if leases.letGoOfLost(at: .now()) { wake() }
            let held = leases.leased(until: .now() + lease * 0.75)
            for start in stride(from: 0, to: held.count, by: LeaseLimits.perStatement) {
                let some = Array(held[start..<min(start + LeaseLimits.perStatement, held.count)])
                let asked = MonotonicTime.now()
                // A lease that can't be renewed ends: somebody else may send it again, under the same id.
                guard let kept = try? await store.renew(some, for: lease) else { continue }
                leases.renewed(some, kept: kept, at: asked, for: lease)
            }
        }
        renewing = nil
    }

    // MARK: The end

    /// Ends ``run()``: what is in stock is given back, what is on its way gets so long.
    func stop(within patience: Duration) async {
        isStopping = true
        release(leases.clearStock(), after: .zero)
        await timer.wake()
        await withTimeout(patience) {
            while let task = sending.values.first { await task.value }
        } onTimeout: {
            await self.cancelSending()
        }
        await finishing?.value
        await provider.shutdown()
    }

    private func cancelSending() {
        for task in sending.values { task.cancel() }
    }
}
