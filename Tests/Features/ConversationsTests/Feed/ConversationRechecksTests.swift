import Testing

@testable import Conversations

@Suite struct ConversationRechecksTests {
    @Test("Subscribers are checked one after the other")
    func order() {
        var rechecks = ConversationRechecks<Int>()
        let isIdle = rechecks.begin([1, 2])
        let first = rechecks.next()
        // The subscriber may be gone or be refused when the recheck starts again.
        let isIdleMeanwhile = rechecks.begin([3])
        #expect(isIdle && !isIdleMeanwhile)
        let others = [rechecks.next(), rechecks.next()]
        #expect(first == 2 && others == [3, nil])
        let beginsAgain = rechecks.begin([])
        let nobody = rechecks.next()
        // Nobody had subscribed, but the next recheck starts anyway.
        let goesOn = rechecks.begin([4])
        let last = [rechecks.next(), rechecks.next()]
        #expect(beginsAgain && nobody == nil && goesOn && last == [4, nil])
    }
}
