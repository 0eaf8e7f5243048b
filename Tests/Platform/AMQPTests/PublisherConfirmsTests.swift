import Testing

@testable import AMQP

@Suite struct PublisherConfirmsTests {
    @Test("All messages must be confirmed, one by one or several at once")
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

    @Test("Refused messages are reported by their index in the current group")
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

    @Test("Late answers to an abandoned group don't count")
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
