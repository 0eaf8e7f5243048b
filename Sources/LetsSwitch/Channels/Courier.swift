import FoundationEssentials
import Postgres
import Sockets

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
    /// Deliveries in one statement.
    private static let perStatement = 500
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
    private let active: ActiveChannels
    /// Told of reminders that were delivered by this channel first.
    private let delivered: @Sendable (Int) -> Void
    /// How long a daemon that has died keeps its deliveries from others. Renewed each quarter of it.
    private let lease: Duration
    private let log: Log
    private let sleeper = Sleeper()

    private var hands = Hands()
    private var windows: OriginWindows
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
        _ channel: any ReminderChannel, store: DeliveryStore, active: ActiveChannels, log: Log,
        lease: Duration = .seconds(8), delivered: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.channel = channel
        self.store = store
        self.active = active
        self.log = log
        self.lease = lease
        windows = OriginWindows(places: channel.concurrency)
        self.delivered = delivered
        metrics = ChannelMetrics(channel.name)
    }

    package nonisolated var name: ChannelName { metrics.name }

    /// There may be something to send.
    package nonisolated func wake() {
        Task { await sleeper.wake() }
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
                await sleeper.sleep(for: pause)
            } catch {
                if !isAway {
                    isAway = true
                    log.warning(
                        "a channel waits for the database",
                        ["channel": .string(name.rawValue), "error": .string("\(error)")])
                }
                await sleeper.sleep(for: Self.retryPause)
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
        guard active.contains(name) else {
            try await clear()
            return Agenda.heartbeat
        }
        if let rest = restsUntil.map({ $0 - .now() }), rest > .zero { return min(rest, Agenda.heartbeat) }
        if restsUntil != nil {
            restsUntil = nil
            metrics.rests(false)
            log.info("a channel is tried again", ["channel": .string(name.rawValue)])
        }
        // Not each time that one place gets free.
        let room = 2 * channel.concurrency - hands.count
        guard room >= channel.concurrency else { return Agenda.heartbeat }
        let limit = min(room, Self.perStatement)
        let asked = MonotonicTime.now()
        let leased = try await store.lease(name, limit: limit, for: lease)
        take(leased, at: asked)
        guard leased.count < limit else { return .zero }
        let next = try await store.next(name)
        metrics.isWaiting(next.waiting)
        if next.waiting >= Self.trimFrom, trimAt <= .now() {
            let dropped = try await store.drop(name, keep: Self.keep, limit: Self.trimFrom)
            count(.dropped, dropped)
            if dropped < Self.trimFrom { trimAt = .now() + Self.trimInterval }
        }
        guard let due = next.due else { return Agenda.heartbeat }
        return min(Agenda.heartbeat, max(.milliseconds(5), .seconds(min(due - next.now, 3600))))
    }

    private func take(_ leased: DeliveryStore.Leased, at asked: MonotonicTime) {
        count(.expired, leased.expired)
        settle(leased.orphans.map { SettledDelivery(id: $0, attempt: 0, settlement: .dropped(.orphaned)) })
        hands.take(leased.deliveries, at: asked, for: lease, origin: channel.origin)
        if renewing == nil, !hands.isEmpty { renewing = Task { await self.keepRenewing() } }
        // Much may have happened while the database was asked.
        if isStopping || !active.contains(name) {
            release(hands.clearStock(), after: .zero)
        } else if let restsUntil {
            release(hands.clearStock(), after: max(.zero, restsUntil - .now()))
        } else {
            sendMore()
            release(hands.clearExcess { windows.share(of: $0) }, after: Self.excessPause)
        }
    }

    private func sendMore() {
        guard !isStopping, restsUntil == nil, active.contains(name) else { return }
        let now = MonotonicTime.now()
        while sending.count < channel.concurrency, let next = hands.next(at: now, admits: windows.admits) {
            switch next {
            case .send(let delivery):
                windows.begin(hands.origin(of: delivery))
                sending[delivery.id] = Task { [channel] in
                    let outcome = await channel.send(delivery)
                    self.sent(delivery, outcome, took: .now() - now)
                }
            case .late(let delivery):
                settle([SettledDelivery(id: delivery.id, attempt: delivery.attempt, settlement: .dropped(.expired))])
            case .lost: wake()
            }
        }
        metrics.isSending(sending.count)
    }

    // MARK: What became of it

    private func sent(_ delivery: Delivery, _ outcome: DeliveryOutcome, took: Duration) {
        sending[delivery.id] = nil
        windows.end(hands.origin(of: delivery), after: took)
        metrics.latency.observe(took)
        var settlement = Settlement(of: delivery, outcome, age: took, random: .random(in: 0..<1))
        switch outcome {
        case .paused(let pause, let reason): rest(for: pause, reason)
        case .gone(let reason) where delivery.address.isEmpty:
            settlement = .dropped(.gone)
            disable(reason)
        default: break
        }
        if isStopping, case .again(_, let counts) = settlement { settlement = .again(after: .zero, counts: counts) }
        record(delivery, outcome, settlement)
        settle([SettledDelivery(id: delivery.id, attempt: delivery.attempt, settlement: settlement)])
        sendMore()
        if !hands.hasStock, !isStopping { wake() }
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
    private func disable(_ reason: String) {
        guard active.contains(name) else { return }
        active.remove(name)
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
            let dropped = try await store.drop(name, keep: 0, limit: 10_000)
            guard dropped > 0 else { return }
            count(.dropped, dropped)
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
            let batch = Array(settled.prefix(Self.perStatement))
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
            for start in stride(from: 0, to: held.count, by: Self.perStatement) {
                let some = Array(held[start..<min(start + Self.perStatement, held.count)])
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
        await sleeper.wake()
        let timer = Task {
            try? await Task.sleep(for: max(.zero, patience))
            for task in self.sending.values { task.cancel() }
        }
        while let task = sending.values.first { await task.value }
        timer.cancel()
        await finishing?.value
        await channel.shutdown()
    }
}
