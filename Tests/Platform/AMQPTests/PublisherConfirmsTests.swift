import Testing

@testable import AMQP

@Suite struct PublisherConfirmsTests {
    @Test("All have to be confirmed, one by one or many at once")
    func confirmed() {
        var confirms = PublisherConfirms()
        confirms.begin()
        #expect(confirms.outcome == .confirmed)
        for _ in 0..<3 { confirms.published() }
        confirms.answer(3, multiple: false, isConfirmed: true)
        #expect(confirms.outcome == .pending)
        confirms.answer(2, multiple: true, isConfirmed: true)
        #expect(confirms.outcome == .confirmed)
    }

    @Test("Those that the broker won't keep are known by their places, of these messages alone")
    func rejected() {
        var confirms = PublisherConfirms()
        confirms.begin()
        for _ in 0..<3 { confirms.published() }
        confirms.answer(2, multiple: true, isConfirmed: false)
        confirms.answer(3, multiple: false, isConfirmed: true)
        #expect(confirms.outcome == .rejected([0, 1]))
        confirms.begin()
        for _ in 0..<2 { confirms.published() }
        confirms.answer(5, multiple: false, isConfirmed: false)
        confirms.answer(4, multiple: false, isConfirmed: true)
        #expect(confirms.outcome == .rejected([1]))
    }

    @Test("Late answers to what was given up don't count")
    func late() {
        var confirms = PublisherConfirms()
        confirms.begin()
        confirms.published()
        confirms.begin()
        confirms.published()
        confirms.answer(1, multiple: false, isConfirmed: false)
        #expect(confirms.outcome == .pending)
        confirms.answer(2, multiple: true, isConfirmed: true)
        #expect(confirms.outcome == .confirmed)
    }
}
