import Basics
import Domain
import FoundationEssentials
package import Observability
import Postgres

/// Feeds one channel from the database: takes what is due, a few at a time, and writes what became of it.
///
/// ```
/// NOTIFY, own timer ──► lease ──► stock ──► send (some at once) ──► settled ──► finish
///                          └─ renewed every few seconds while it is in hand ─┘
/// ```
///
/// Each channel has its own, so that one that hangs keeps nobody else waiting. Several daemons share the work: what one has leased
/// is nobody else's, and everybody's again when the lease ends because the daemon has died.
package actor Courier {
    /// After an error of the database.
    private static let retryPause = Duration.milliseconds(500)
    /// Events that may wait for a channel that is away; the oldest go first.
    private static let keep = 250_000
    /// As many as are counted, so perhaps far more wait; looked after so often, and so many go at a time.
    private static let trimFrom = 10_000
    private static let trimInterval = Duration.seconds(60)
    /// For what a server has too much of.
    private static let excessPause = Duration.seconds(1)
    /// The longest rest; then the channel is tried again.
    private static let longestPause = Duration.seconds(900)

    package nonisolated let metrics: ChannelMetrics
    private let channel: any ReminderChannel
    private let store: DeliveryStore
    /// Told of reminders that were delivered by this channel first.
    private let delivered: @Sendable (Int) -> Void
    /// How long a daemon that has died keeps its deliveries from others. Renewed each quarter of it.
    private let lease: Duration
    private let log: Log
    private let timer = WakeableTimer()

    private var hands = Hands()
    private var service = ProviderService.starting
    private var places: AttemptPlaces
    private var windows: OriginWindows
    /// By the first delivery of each.
    private var sending: [Int: Task<Void, Never>] = [:]
    private var settled: [SettledDelivery] = []
    private var finishing: Task<Void, Never>?
    /// While anything is in hand.
    private var renewing: Task<Void, Never>?
    private var restsUntil: MonotonicTime?
    private var trimAt = MonotonicTime.now()
    private var isAway = false
    private var isStopping = false

    package init(
        _ channel: any ReminderChannel, store: DeliveryStore, log: Log,
        lease: Duration = .seconds(8), delivered: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.channel = channel
        self.store = store
        self.log = log
        self.lease = lease
        places = AttemptPlaces(count: channel.concurrency)
        windows = OriginWindows(places: channel.concurrency)
        self.delivered = delivered
        metrics = ChannelMetrics(channel.name)
    }

    package nonisolated var name: ChannelName { metrics.name }

    /// There may be something to send.
    package nonisolated func wake() {
        Task { await timer.wake() }
    }

    /// Tells the database that this daemon serves the channel: from then on whoever claims a task writes its deliveries.
    package func enter() async throws {
        guard case .starting = service else { return }
        service = .serving(start: try await store.start(name))
    }

    /// Works until ``stop(within:)``.
    package func run() async {
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
        guard try await isServing() else { return Agenda.heartbeat }
        if let rest = restsUntil.map({ $0 - .now() }), rest > .zero { return min(rest, Agenda.heartbeat) }
        if restsUntil != nil {
            restsUntil = nil
            metrics.rests(false)
            log.info("a channel is tried again", ["channel": .string(name.rawValue)])
        }
        let limits = LeaseLimits(
            inHand: hands.urgentCount, others: hands.count - hands.urgentCount, concurrency: channel.concurrency,
            batch: channel.batchLimit)
        guard !limits.isEmpty else { return Agenda.heartbeat }
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
        guard let due = next.due(within: limits) else { return Agenda.heartbeat }
        return min(Agenda.heartbeat, max(.milliseconds(5), .seconds(saturating: due - next.now)))
    }

    /// Whether there is anything to be done. What the database doesn't know yet of the service is said to it first.
    private func isServing() async throws -> Bool {
        switch service {
        case .starting: try await enter()
        case .serving: break
        case .turnedAway(let start):
            service = .off(isForAll: try await store.turnAway(name, start: start))
            return try await isServing()
        case .off(true): try await clear()
        case .off(false): break
        }
        return service.isServing
    }

    private func take(_ leased: DeliveryStore.Leased, at asked: MonotonicTime) {
        count(.expired, leased.expired)
        settle(leased.orphans.map { SettledDelivery(id: $0, attempt: 0, settlement: .dropped(.orphaned)) })
        hands.take(leased.deliveries, at: asked, for: lease, origin: channel.origin)
        if renewing == nil, !hands.isEmpty { renewing = Task { await self.keepRenewing() } }
        // Much may have happened while the database was asked.
        if isStopping || !service.isServing {
            release(hands.clearStock(), after: .zero)
        } else if let restsUntil {
            release(hands.clearStock(), after: max(.zero, restsUntil - .now()))
        } else {
            sendMore()
            release(hands.clearExcess { windows.share(of: $0) }, after: Self.excessPause)
        }
    }

    private func sendMore() {
        guard !isStopping, restsUntil == nil, service.isServing else { return }
        let now = MonotonicTime.now()
        while places.taken < places.count {
            let first = take(at: now) { [places, windows] delivery, origin in
                places.admits(isUrgent: delivery.isUrgent) && windows.admits(origin, isUrgent: delivery.isUrgent)
            }
            guard let first else { break }
            send([first] + companions(of: first, at: now), at: now)
        }
        metrics.isSending(sending.count)
    }

    /// The next one out of the stock that may go. What goes no more is settled on the way.
    private func take(at now: MonotonicTime, admits: (Delivery, String?) -> Bool) -> Delivery? {
        while let next = hands.next(at: now, admits: admits) {
            switch next {
            case .send(let delivery): return delivery
            case .late(let delivery):
                settle([SettledDelivery(id: delivery.id, attempt: delivery.attempt, settlement: .dropped(.expired))])
            case .lost: wake()
            }
        }
        return nil
    }

    /// What goes together with it: the same kind, to the same server. With each attempt half as many, so that one that its receiver
    /// can't take doesn't keep the others from it.
    private func companions(of first: Delivery, at now: MonotonicTime) -> [Delivery] {
        let limit = channel.batchLimit >> min(first.attempt - 1, Int.bitWidth - 1)
        let server = hands.origin(of: first)
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
        places.begin(isUrgent: first.isUrgent)
        windows.begin(hands.origin(of: first))
        sending[first.id] = Task { [channel] in
            let outcome = channel.batchLimit > 1 ? await channel.send(together: deliveries) : await channel.send(first)
            self.sent(deliveries, outcome, took: .now() - now)
        }
    }

    // MARK: What became of it

    private func sent(_ deliveries: [Delivery], _ outcome: DeliveryOutcome, took: Duration) {
        let first = deliveries[0]
        sending[first.id] = nil
        places.end(isUrgent: first.isUrgent)
        windows.end(hands.origin(of: first), after: took)
        metrics.latency.observe(took)
        switch outcome {
        case .paused(let pause, let reason): rest(for: pause, reason)
        case .gone(let reason) where first.address.isEmpty: leave(reason)
        default: break
        }
        settle(
            deliveries.map { delivery in
                let settlement = settlement(of: delivery, outcome, took: took)
                record(delivery, outcome, settlement)
                return SettledDelivery(id: delivery.id, attempt: delivery.attempt, settlement: settlement)
            })
        sendMore()
        if !hands.hasStock, !isStopping { wake() }
    }

    private func settlement(of delivery: Delivery, _ outcome: DeliveryOutcome, took: Duration) -> Settlement {
        // Whoever serves the provider after us may have another server.
        if case .gone = outcome, delivery.address.isEmpty { return .again(after: .zero, counts: false) }
        let settlement = Settlement(of: delivery, outcome, age: took, random: .random(in: 0..<1))
        if isStopping, case .again(_, let counts) = settlement { return .again(after: .zero, counts: counts) }
        return settlement
    }

    private func record(_ delivery: Delivery, _ outcome: DeliveryOutcome, _ settlement: Settlement) {
        let reason: String? =
            switch outcome {
            case .accepted: nil
            case .gone(let reason), .refused(let reason), .retry(_, let reason), .paused(_, let reason): reason
            }
        let level: LogLevel =
            switch settlement {
            case .accepted, .again: .debug
            case .gone: .info
            case .dropped: .warning
            }
        log.log(
            level, "delivery",
            [
                "channel": .string(name.rawValue), "event": .string(delivery.event),
                "id": .string(delivery.messageId.uuidString), "attempt": .int(delivery.attempt),
                "outcome": .string(settlement.result.rawValue), "reason": .string(reason ?? ""),
            ])
    }

    /// The fault is the channel's own: what is in stock waits with it.
    private func rest(for pause: Duration, _ reason: String) {
        let pause = min(max(pause, Settlement.shortestWait), Self.longestPause)
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
        release(hands.clearStock(), after: pause)
    }

    /// Gives back what wasn't sent.
    private func release(_ deliveries: [Delivery], after pause: Duration) {
        settle(
            deliveries.map {
                SettledDelivery(id: $0.id, attempt: $0.attempt, settlement: .again(after: pause, counts: false))
            })
    }

    /// The channel was turned away for good.
    private func leave(_ reason: String) {
        guard case .serving(let start) = service else { return }
        service = .turnedAway(start: start)
        metrics.rests(true)
        log.error(
            "a channel is off until the next start",
            ["channel": .string(name.rawValue), "reason": .string(reason)])
        release(hands.clearStock(), after: .zero)
        wake()
    }

    /// Deletes what waits for a channel that is off.
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

    private func settle(_ more: [SettledDelivery]) {
        guard !more.isEmpty else { return }
        for settled in more { metrics.results.add(settled.settlement.result) }
        settled += more
        if finishing == nil { finishing = Task { await self.finish() } }
    }

    /// Writes what is settled, many at a time, until nothing is.
    private func finish() async {
        var failures = 0
        while !settled.isEmpty {
            let batch = Array(settled.prefix(LeaseLimits.perStatement))
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
            settled.removeFirst(batch.count)
            for settled in batch { hands.letGo(settled.id) }
        }
        finishing = nil
        if !isStopping { wake() }
    }

    private func keepRenewing() async {
        while !hands.isEmpty, !Task.isCancelled {
            try? await Task.sleep(for: lease / 4)
            // As after a standstill: whoever asks first has it, and that may be us.
            if hands.letGoOfLost(at: .now()) { wake() }
            let held = hands.leased(until: .now() + lease * 0.75)
            for start in stride(from: 0, to: held.count, by: LeaseLimits.perStatement) {
                let some = Array(held[start..<min(start + LeaseLimits.perStatement, held.count)])
                let asked = MonotonicTime.now()
                // A lease that can't be renewed ends: somebody else may send it again, under the same id.
                guard let kept = try? await store.renew(some, for: lease) else { continue }
                hands.renewed(some, kept: kept, at: asked, for: lease)
            }
        }
        renewing = nil
    }

    // MARK: The end

    /// Ends ``run()``: what is in stock is given back, what is on its way gets so long.
    package func stop(within patience: Duration) async {
        isStopping = true
        release(hands.clearStock(), after: .zero)
        await timer.wake()
        await withTimeout(patience) {
            while let task = sending.values.first { await task.value }
        } onTimeout: {
            await self.cancelSending()
        }
        await finishing?.value
        await channel.shutdown()
    }

    private func cancelSending() {
        for task in sending.values { task.cancel() }
    }
}
