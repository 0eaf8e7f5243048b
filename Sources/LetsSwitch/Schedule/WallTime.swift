/// What a clock on the wall shows: `09:00`, or `09:00:30`.
package struct WallTime: Hashable, Sendable {
    /// 0 to 86,399, counted on the clock's face: on a day when the clocks change, not the time since midnight.
    package let seconds: Int

    /// Reads `HH:MM` or `HH:MM:SS`; nil for anything else, `24:00` included.
    package init?(_ text: String) {
        var digits = DigitReader(text)
        guard let hour = digits.number(2, 0...23), digits.skip(":"), let minute = digits.number(2, 0...59) else {
            return nil
        }
        var second = 0
        if digits.skip(":") {
            guard let shown = digits.number(2, 0...59) else { return nil }
            second = shown
        }
        guard digits.isAtEnd else { return nil }
        seconds = hour * 3600 + minute * 60 + second
    }
}
