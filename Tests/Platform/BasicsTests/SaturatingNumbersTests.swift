import Basics
import Dispatch
import Testing

@Suite struct SaturatingNumbersTests {
    @Test("Numbers out of range become the nearest duration or integer")
    func saturation() {
        #expect(Duration.seconds(saturating: 1.5) == .milliseconds(1500))
        #expect(Duration.seconds(saturating: .nan) == .zero)
        #expect(Duration.seconds(saturating: .infinity) > .seconds(1e9))
        #expect(Duration.seconds(saturating: -1e300) < .seconds(-1e9))
        #expect(Int(saturating: -2.9) == -2)
        #expect(Int(saturating: .nan) == 0)
        #expect(Int(saturating: 1e19) == .max && Int(saturating: -.infinity) == .min)
    }

    @Test("A Dispatch interval is never negative, and infinite if it is too long")
    func dispatchIntervals() {
        #expect(Duration.seconds(-1).dispatchInterval == .nanoseconds(0))
        #expect(Duration.milliseconds(3).dispatchInterval == .nanoseconds(3_000_000))
        #expect(Duration.seconds(1e10).dispatchInterval == .never)
        #expect(Duration.seconds(Int64.max).dispatchInterval == .never)
    }

    @Test("A wait in whole milliseconds is never shorter than the duration")
    func wholeMilliseconds() {
        #expect(Duration.seconds(-1).wholeMilliseconds == 0)
        #expect(Duration.milliseconds(4).wholeMilliseconds == 4)
        #expect(Duration.nanoseconds(4_000_001).wholeMilliseconds == 5)
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == 18_446_744_073_710)
    }
}
