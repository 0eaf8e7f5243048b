import TestSupport
import Testing

@testable import LetsSwitchClient

@Suite struct GatheringTests {
    @Test("Gathered elements wait for a quiet time, up to the maximum delay")
    func times() {
        var gathering = Gathering<Int>(batch: .milliseconds(330), quiet: .milliseconds(200))
        #expect(gathering.deadline == nil)
        gathering.add(1, at: .seconds(1))
        #expect(gathering.deadline == .milliseconds(1200))
        gathering.add(2, at: .milliseconds(1100))
        #expect(gathering.deadline == .milliseconds(1300))
        gathering.add(3, at: .milliseconds(1250))
        #expect(gathering.deadline == .milliseconds(1330))
        #expect(gathering.take(at: .milliseconds(1320)) == [])
        #expect(gathering.take(at: .milliseconds(1330)) == [1, 2, 3])
        #expect(gathering.deadline == nil)
        for number in 0..<1024 { gathering.add(number, at: .seconds(2)) }
        #expect(gathering.deadline == .seconds(2))
    }

    @Test(
        "A thousand elements are taken in order and in time",
        arguments: 0..<20 as Range<UInt64>)
    func all(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var gathering = Gathering<(number: Int, at: Duration)>(batch: .milliseconds(330), quiet: .milliseconds(200))
        var now = Duration.zero
        var taken: [Int] = []
        func take() {
            for element in gathering.take(at: now) {
                taken.append(element.number)
                #expect(now - element.at <= .milliseconds(330))
            }
        }
        for number in 0..<1000 {
            let next = now + .milliseconds(Int.random(in: 0...250, using: &random))
            while let due = gathering.deadline, due <= next {
                now = due
                take()
            }
            now = next
            gathering.add((number, now), at: now)
        }
        while let due = gathering.deadline {
            now = due
            take()
        }
        #expect(taken == Array(0..<1000))
    }
}
