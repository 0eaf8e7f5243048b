import Basics
import Domain
import FoundationEssentials
import Observability
import Postgres

/// Feeds one provider from the database: leases due deliveries, sends several in parallel, and stores the outcomes.
///
/// ```
/// NOTIFY, own timer ──► lease ──► stock ──► send (in parallel) ──► finished ──► finish
///                          └─ renewed every few seconds until it is finished ─┘
/// ```
///
/// Reminders and other deliveries are leased by separate loops, so that neither waits for the other's statements.
///
/// Each provider has its own worker, so a provider that hangs delays no other. Several daemons share the work: a leased
/// delivery belongs to one daemon. If the daemon dies, the lease ends, and another daemon can send the delivery.
actor DeliveryWorker {
    /// The pause after an error of the database.
    private static let retryPause = Duration.milliseconds(500)
    /// The maximum number of events that wait for an unavailable provider. If there are more, the oldest are deleted.
    private static let keep = 250_000
    /// The number of waiting deliveries from which the oldest are deleted, and the number deleted by one statement. The
    /// database counts no further, so more may be waiting.
    private static let trimFrom = 10_000
    private static let trimInterval = Duration.seconds(60)
    /// The pause for deliveries that exceed a server's share.
    private static let excessPause = Duration.seconds(1)

    nonisolated let metrics: DeliveryMetrics
    let provider: any DeliveryProvider
    let store: DeliveryStore
    /// Receives the number of reminders that this provider delivered first.
    private let delivered: @Sendable (Int) -> Void
    /// The duration of a lease. A lease is renewed after a quarter of it. If a daemon dies, its deliveries stay leased
    /// this long.
    private let lease: Duration
    let log: Log
    private let reminderTimer = WakeableTimer()
    private let otherTimer = WakeableTimer()

    var leases = LeasedDeliveries()
    var state = DeliveryWorkerState()
    var permits: AttemptPermits
    /// The attempts in flight, by the id of their first delivery.
    var sending: [Int: Task<Void, Never>] = [:]
    /// Writes the outcomes. It and this actor refer to each other, because both live as long as the daemon.
    private lazy var outcomes = BatchWriter(
        self,
        limits: BatchLimits(
            itemsPerBatch: LeaseLimits.perStatement, waitingItems: .max, retryPause: DeliveryWorker.retryPause, tries: 3
        ))
    /// The task that renews leases.
    private var renewing: Task<Void, Never>?
    private var trimAt = MonotonicTime.now()

    init(
        _ provider: any DeliveryProvider, store: DeliveryStore, log: Log,
        lease: Duration = .seconds(8), delivered: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.provider = provider
        self.store = store
        self.log = log
        self.lease = lease
        permits = AttemptPermits(count: provider.concurrency)
        self.delivered = delivered
        metrics = DeliveryMetrics(provider.name)
    }

    nonisolated var name: ProviderName { metrics.name }

    /// Makes a single attempt that is neither queued nor stored.
    nonisolated func attempt(_ delivery: Delivery) async -> AttemptOutcome {
        await provider.send(delivery)
    }

    /// Wakes the worker, because deliveries may wait.
    nonisolated func wake() {
        for kind in DeliveryKind.allCases { wake(kind) }
    }

    private nonisolated func wake(_ kind: DeliveryKind) {
        Task { await timer(of: kind).wake() }
    }

    private nonisolated func timer(of kind: DeliveryKind) -> WakeableTimer {
        switch kind {
        case .reminders: reminderTimer
        case .others: otherTimer
        }
    }

    /// Registers this daemon for the provider. From then on, claims write deliveries for the provider.
    func enter() async throws {
        guard state.next(at: .now()) == .start else { return }
        state.started(try await store.start(name))
    }

    /// Works until ``stop(within:)``.
    func run() async {
        defer { renewing?.cancel() }
        await withTaskGroup(of: Void.self) { group in
            for kind in DeliveryKind.allCases { group.addTask { await self.keepLeasing(kind) } }
        }
        // Waits until the deliveries of the last leases are given back.
        await outcomes.finish()
    }

    private func keepLeasing(_ kind: DeliveryKind) async {
        while !state.isStopping {
            do {
                let pause = try await step(kind)
                if state.noteDatabase(isThere: true, for: kind) {
                    log.info("a provider can use the database again", ["channel": .string(name.rawValue)])
                }
                await timer(of: kind).sleep(for: pause)
            } catch {
                if state.noteDatabase(isThere: false, for: kind) {
                    log.warning(
                        "a provider is waiting for the database",
                        ["channel": .string(name.rawValue), "error": .string("\(error)")])
                }
                await timer(of: kind).sleep(for: Self.retryPause)
            }
        }
    }

    private func step(_ kind: DeliveryKind) async throws -> Duration {
        switch kind {
        case .reminders: return try await step()
        case .others:
            // The loop for reminders performs the other steps, and wakes this loop when the provider can be used.
            guard state.isServing else { return DeliveryWorkerState.heartbeat }
            return try await leaseMore(.others)
        }
    }

    /// Performs the next step.
    ///
    /// - Returns: The time to sleep, unless the worker is woken.
    private func step() async throws -> Duration {
        switch state.next(at: .now()) {
        case .start:
            try await enter()
            wake(.others)
            return .zero
        case .storeRefusal(let start):
            state.leave(isForAll: try await store.storeRefusal(name, start: start))
            return .zero
        case .clear:
            try await clear()
            return DeliveryWorkerState.heartbeat
        case .sleep(let pause): return pause
        case .end: return .zero
        case .leaseAgain:
            metrics.noteResting(false)
            log.info("a paused provider is tried again", ["channel": .string(name.rawValue)])
            wake(.others)
            return try await leaseMore(.reminders)
        case .lease: return try await leaseMore(.reminders)
        }
    }

    // MARK: Leasing

    /// Leases as many deliveries as the limits allow.
    ///
    /// - Returns: The time to sleep.
    private func leaseMore(_ kind: DeliveryKind) async throws -> Duration {
        let limits = LeaseLimits(
            inHand: leases.urgentCount, others: leases.count - leases.urgentCount, concurrency: provider.concurrency,
            batch: provider.batchLimit)
        let limit = limits[kind]
        guard limit > 0 else { return DeliveryWorkerState.heartbeat }
        let asked = MonotonicTime.now()
        let leased = try await store.lease(name, kind, limit: limit, for: lease)
        take(leased, at: asked)
        guard leased.count < limit else { return .zero }
        let next = try await store.next(name, for: kind)
        metrics.isWaiting(next.waiting)
        if kind == .others { try await trim(next.waiting) }
        guard let due = next.due(kind) else { return DeliveryWorkerState.heartbeat }
        return min(DeliveryWorkerState.heartbeat, max(.milliseconds(5), .seconds(saturating: due - next.now)))
    }

    /// Deletes the oldest deliveries if too many are waiting.
    private func trim(_ waiting: Int) async throws {
        guard waiting >= Self.trimFrom, trimAt <= .now() else { return }
        let dropped = try await store.drop(name, keep: Self.keep, limit: Self.trimFrom)
        count(.dropped, dropped)
        if dropped < Self.trimFrom { trimAt = .now() + Self.trimInterval }
    }

    private func take(_ leased: DeliveryStore.Leased, at asked: MonotonicTime) {
        count(.expired, leased.expired)
        settle(leased.orphans.map { FinishedDelivery(id: $0, attempt: 0, decision: .dropped(.orphaned)) })
        leases.take(leased.deliveries, at: asked, for: lease, origin: provider.origin)
        if renewing == nil, !leases.isEmpty { renewing = Task { await self.keepRenewing() } }
        // The state may have changed during the query.
        switch state.disposition(at: .now()) {
        case .release(let pause): release(leases.clearStock(), after: pause)
        case .send:
            sendMore()
            release(leases.clearExcess { permits.share(of: $0) }, after: Self.excessPause)
        }
    }

    func sendMore() {
        let now = MonotonicTime.now()
        guard case .send = state.disposition(at: now) else { return }
        while permits.areLeft {
            guard let first = take(at: now, admits: permits.admits) else { break }
            send([first] + companions(of: first, at: now), at: now)
        }
        metrics.isSending(sending.count)
    }

    /// Removes and returns the next permitted delivery from the stock. Finishes expired deliveries before it.
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

    /// Removes further deliveries of the same kind, attempt and server from the stock, for the same request. The limit
    /// is halved with each attempt, so that a delivery that the receiver can't handle doesn't block the others.
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

    /// Makes one attempt to send these deliveries.
    private func send(_ deliveries: [Delivery], at now: MonotonicTime) {
        let first = deliveries[0]
        permits.begin(first, to: leases.origin(of: first))
        sending[first.id] = Task { [provider] in
            let outcome =
                provider.batchLimit > 1 ? await provider.send(together: deliveries) : await provider.send(first)
            self.sent(deliveries, outcome, took: .now() - now)
        }
    }

    // MARK: The database

    func settle(_ more: [FinishedDelivery]) {
        guard !more.isEmpty else { return }
        for finished in more { metrics.outcomes.add(finished.decision.outcome) }
        outcomes.submit(more)
    }

    private func keepRenewing() async {
        while !leases.isEmpty, !Task.isCancelled {
            try? await Task.sleep(for: lease / 4)
            // A lease may have ended, for example after a long pause of the process. The first daemon that asks gets
            // these deliveries, and it may be this one.
            if leases.removeLapsed(at: .now()) { wake() }
            let held = leases.leased(until: .now() + lease * 0.75)
            for start in stride(from: 0, to: held.count, by: LeaseLimits.perStatement) {
                let some = Array(held[start..<min(start + LeaseLimits.perStatement, held.count)])
                let asked = MonotonicTime.now()
                do {
                    let kept = try await store.renew(some, for: lease)
                    leases.renewed(some, kept: kept, at: asked, for: lease)
                } catch {
                    // The next round tries again. If a lease ends before the next round, another daemon may send the
                    // delivery again with the same id.
                    log.warning(
                        "failed to renew leases of deliveries",
                        ["channel": .string(name.rawValue), "count": .int(some.count), "error": .string("\(error)")])
                }
            }
        }
        renewing = nil
    }

    // MARK: Stopping

    /// Ends ``run()``. Gives back the stock, and waits up to `patience` for attempts in flight.
    func stop(within patience: Duration) async {
        state.stop()
        release(leases.clearStock(), after: .zero)
        for kind in DeliveryKind.allCases { await timer(of: kind).wake() }
        await withTimeout(patience) {
            while let task = sending.values.first { await task.value }
        } onTimeout: {
            await self.cancelSending()
        }
        await outcomes.finish()
        await provider.shutdown()
    }

    private func cancelSending() {
        for task in sending.values { task.cancel() }
    }
}

extension DeliveryWorker: BatchDestination {
    func write(_ batch: BatchQueue<FinishedDelivery>.Batch) async -> BatchOutcome {
        do {
            delivered(try await store.finish(batch.items).count)
            for delivery in batch.items { leases.remove(delivery.id) }
            return .written
        } catch {
            let outcome = BatchOutcome(error, isDivisible: false)
            // Storing an outcome twice is harmless, so an unknown result is tried again.
            if case .unavailable = outcome, !state.isStopping { return outcome }
            log.error(
                "failed to write the outcomes of deliveries",
                ["channel": .string(name.rawValue), "error": .string("\(error)")])
            return outcome
        }
    }

    /// Gives up outcomes that can't be stored. Their leases end, and the deliveries are sent again.
    func dropped(_ deliveries: [FinishedDelivery], _ error: (any Error)?) {
        for delivery in deliveries { leases.remove(delivery.id) }
    }

    func emptied() {
        if !state.isStopping { wake() }
    }
}
