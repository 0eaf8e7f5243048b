import Features
import Testing

@testable import Settings

@Suite struct ConfigurationDurationTests {
    @Test(
        "A duration is seconds, or has a unit, and may have a fraction",
        arguments: [
            ("90", Duration.seconds(90)), ("90s", .seconds(90)), ("5m", .seconds(300)), ("1h", .seconds(3600)),
            ("30d", .seconds(2_592_000)), ("0.5", .milliseconds(500)), ("1.5h", .seconds(5400)), ("0", .zero),
            ("0.000000001", .nanoseconds(1)), ("0.25m", .seconds(15)), ("999999999", .seconds(999_999_999)),
            ("999999999.999999999d", .seconds(999_999_999 * 86_400) + .nanoseconds(999_999_999 * 86_400)),
        ])
    func durationIsSecondsOrHasUnit(_ text: String, _ duration: Duration) throws {
        #expect(try DurationText.parse(text) == duration)
    }

    @Test(
        "An invalid duration is refused",
        arguments: [
            "", "s", ".", ".5", "5.", "-1", "+1", "1e3", "1 s", " 1", "1S", "1ms", "1w", "1.2.3", "0x10", "inf", "nan",
            "1000000000", "0.0000000001", "1,5", "٣",
        ])
    func invalidDurationIsRefused(_ text: String) {
        #expect(throws: InvalidValue.self) { try DurationText.parse(text) }
    }

    @Test(
        "A duration is shown in its largest whole unit",
        arguments: [
            (Duration.seconds(60), "1m"), (.seconds(90), "90s"), (.seconds(3600), "1h"), (.seconds(2_592_000), "30d"),
            (.milliseconds(1500), "1.5s"), (.milliseconds(1), "0.001s"), (.zero, "0s"),
        ])
    func durationIsShownInItsLargestWholeUnit(_ duration: Duration, _ text: String) {
        #expect(DurationText.format(duration) == text)
    }

    @Test("A printed duration can be parsed") func whatIsShownCanBeRead() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let duration =
                Duration.seconds(Int64.random(in: 0..<1_000_000, using: &random))
                + .nanoseconds(Bool.random(using: &random) ? 0 : Int64.random(in: 0..<1_000_000_000, using: &random))
            #expect(try DurationText.parse(DurationText.format(duration)) == duration)
        }
    }
}
