import Basics
import Domain
import FoundationEssentials
import Observability

/// The handling of outcomes.
extension DeliveryWorker {
    func sent(_ deliveries: [Delivery], _ outcome: AttemptOutcome, took: Duration) {
        let first = deliveries[0]
        sending[first.id] = nil
        permits.end(first, to: leases.origin(of: first), after: took)
        metrics.latency.observe(took)
        switch outcome {
        case .paused(let pause, let reason): rest(for: pause, reason)
        case .gone(let reason) where first.address.isEmpty: switchOff(reason)
        default: break
        }
        settle(
            deliveries.map { delivery in
                let decision = decision(of: delivery, outcome, took: took)
                record(delivery, outcome, decision)
                return FinishedDelivery(id: delivery.id, attempt: delivery.attempt, decision: decision)
            })
        sendMore()
        if !leases.hasStock, !state.isStopping { wake() }
    }

    private func decision(of delivery: Delivery, _ outcome: AttemptOutcome, took: Duration) -> RetryDecision {
        // Another daemon that serves the provider may use another server, so the delivery is tried again.
        if case .gone = outcome, delivery.address.isEmpty { return .again(after: .zero, counts: false) }
        let decision = RetryDecision(of: delivery, outcome, age: took, random: .random(in: 0..<1))
        if state.isStopping, case .again(_, let counts) = decision { return .again(after: .zero, counts: counts) }
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
                "id": .string(delivery.messageId.text), "attempt": .int(delivery.attempt),
                "outcome": .string(decision.outcome.rawValue), "reason": .string(reason ?? ""),
            ])
    }

    /// Pauses the provider because of an error that concerns all deliveries. Gives back the stock.
    private func rest(for pause: Duration, _ reason: String) {
        guard let rest = state.rest(for: pause, at: .now()) else { return }
        if rest.isNew {
            log.error(
                "a provider is paused",
                [
                    "channel": .string(name.rawValue), "reason": .string(reason),
                    "seconds": .int(Int(rest.pause / .seconds(1))),
                ])
        }
        metrics.noteResting(true)
        release(leases.clearStock(), after: rest.pause)
    }

    /// Gives back the leases of unsent deliveries.
    func release(_ deliveries: [Delivery], after pause: Duration) {
        settle(
            deliveries.map {
                FinishedDelivery(id: $0.id, attempt: $0.attempt, decision: .again(after: pause, counts: false))
            })
    }

    /// Stops the provider, because its server has permanently refused it.
    private func switchOff(_ reason: String) {
        guard state.markRefused() else { return }
        metrics.noteResting(true)
        log.error(
            "a provider is switched off until the next start",
            ["channel": .string(name.rawValue), "reason": .string(reason)])
        release(leases.clearStock(), after: .zero)
        wake()
    }

    /// Deletes the waiting deliveries of a provider that is off.
    func clear() async throws {
        while !state.isStopping {
            let cleared = try await store.clear(name, limit: 10_000)
            guard cleared > 0 else { return }
            count(.dropped, cleared)
        }
    }

    func count(_ outcome: DeliveryMetrics.Outcome, _ number: Int) {
        if number > 0 { metrics.outcomes.add(outcome, number) }
    }
}
