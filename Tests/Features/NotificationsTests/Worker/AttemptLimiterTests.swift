import Testing

@testable import Notifications

/// The limit of attempts at the same time.
@Suite struct AttemptLimiterTests {
    /// Begins attempts until no more are admitted. Returns their number.
    private func fill(_ places: inout AttemptLimiter, isUrgent: Bool) -> Int {
        var count = 0
        while places.admits(isUrgent: isUrgent) {
            places.begin(isUrgent: isUrgent)
            count += 1
        }
        return count
    }

    @Test("Urgent deliveries may use all free places, and others half of them")
    func halves() {
        var places = AttemptLimiter(count: 32)
        let others = fill(&places, isUrgent: false)
        let urgent = fill(&places, isUrgent: true)
        #expect(others == 16 && urgent == 16)
        places.end(isUrgent: false)
        let more = fill(&places, isUrgent: true)
        #expect(more == 1)
        let none = fill(&places, isUrgent: false)
        #expect(none == 0)
    }

    @Test("A single place is shared by both kinds")
    func single() {
        var places = AttemptLimiter(count: 1)
        let others = fill(&places, isUrgent: false)
        let urgent = fill(&places, isUrgent: true)
        #expect(others == 1 && urgent == 0)
    }

    @Test("A full stock of one kind leaves room for the other")
    func leases() {
        let limits = LeaseLimits(inHand: 0, others: 64, concurrency: 32, batch: 1)
        #expect(limits == LeaseLimits(urgent: 64, others: 0))
        #expect(limits[.reminders] == 64 && limits[.others] == 0)
        let later = LeaseLimits(inHand: 33, others: 32, concurrency: 32, batch: 1)
        #expect(later == LeaseLimits(urgent: 0, others: 32))
        #expect(LeaseLimits(inHand: 64, others: 64, concurrency: 32, batch: 1) == LeaseLimits(urgent: 0, others: 0))
    }

    @Test("Batches lease more deliveries, up to the limits")
    func batches() {
        let empty = LeaseLimits(inHand: 0, others: 0, concurrency: 32, batch: 500)
        #expect(empty == LeaseLimits(urgent: 500, others: 500))
        #expect(
            LeaseLimits(inHand: 2001, others: 2001, concurrency: 32, batch: 500) == LeaseLimits(urgent: 0, others: 0))
    }
}
