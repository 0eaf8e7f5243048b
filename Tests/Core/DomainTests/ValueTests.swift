import FoundationEssentials
import Observability
import Testing

@testable import Domain

@Suite struct ValueTests {
    @Test(
        "An RFC 3339 instant is parsed with any offset",
        arguments: [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-11-22T09:00:00Z", 1_795_338_000),
            ("2026-11-22T10:00:00+01:00", 1_795_338_000),
            ("2026-11-21T23:30:00-09:30", 1_795_338_000),
            ("2026-11-22t09:00:00z", 1_795_338_000),
            ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("0001-01-01T00:00:00Z", -62_135_596_800),
            // A fraction is cut off: JavaScript's `toISOString()` writes one.
            ("2026-11-22T09:00:00.000Z", 1_795_338_000), ("2026-11-22T09:00:00.999999999Z", 1_795_338_000),
            ("2026-11-22T10:00:00.5+01:00", 1_795_338_000),
        ])
    func rfc3339InstantIsParsedWithAnyOffset(text: String, seconds: Int) {
        #expect(Instant(text) == Instant(seconds: seconds))
    }

    @Test(
        "Text that isn't an RFC 3339 instant is refused",
        arguments: [
            "", "2026-11-22", "2026-11-22T09:00Z", "2026-11-22T09:00:00", "2026-11-22T09:00:00.Z",
            "2026-11-22T09:00:00.5", "2026-11-22T09:00:00,5Z", "2026-11-22T09:00.5Z",
            "2026-11-22T24:00:00Z",
            "2026-11-22T09:60:00Z", "2026-12-31T23:59:60Z", "2026-02-30T09:00:00Z", "2025-02-29T09:00:00Z",
            "1900-02-29T00:00:00Z", "2026-13-01T09:00:00Z", "2026-00-01T09:00:00Z", "2026-01-00T09:00:00Z",
            "99999-11-22T09:00:00Z", "0000-11-22T09:00:00Z", "2026-11-22 09:00:00Z", "2026-11-22T09:00:00Z ",
            "2026-11-22T09:00:00+0100", "2026-11-22T09:00:00+24:00", "+026-11-22T09:00:00Z", "２026-11-22T09:00:00Z",
        ])
    func malformedInstants(text: String) {
        #expect(Instant(text) == nil)
    }

    @Test("An instant is written as it is parsed, on the days of two leap cycles")
    func instantIsWrittenAsItIsParsedOnDaysOfTwoLeapCycles() throws {
        for day in stride(from: -150_000, through: 150_000, by: 7) {
            let instant = Instant(seconds: day * 86_400 + (day & 0xFFFF))
            try #require(Instant(instant.description) == instant)
        }
    }

    @Test(
        "An instant outside the years of RFC 3339 is written, too",
        arguments: [
            (253_402_300_800, "10000-01-01T00:00:00Z"), (-62_135_596_801, "0000-12-31T23:59:59Z"),
            (-62_167_219_201, "-0001-12-31T23:59:59Z"),
        ])
    func instantOutsideYearsOfRFC3339IsWrittenToo(seconds: Int, text: String) {
        #expect(Instant(seconds: seconds).description == text)
        // Every number has a description.
        #expect(Instant(seconds: .max / 2).description.hasSuffix("Z"))
    }

    @Test("Hexadecimal digits return the bytes that they were written from")
    func bytesAreWrittenAsHexadecimalDigits() {
        let bytes = Array(UInt8.min...UInt8.max)
        #expect(HexText.encode(bytes).hasPrefix("000102030405060708090a0b0c0d0e0f10"))
        #expect(HexText.encode(bytes).hasSuffix("f9fafbfcfdfeff"))
        #expect(HexText.decode(HexText.encode(bytes)) == bytes)
        #expect(HexText.encode([]) == "")
    }

    @Test("An epoch time with a fraction becomes the second that contains it")
    func epochTimeWithFractionBecomesSecondThatContainsIt() {
        #expect(Instant(epoch: 1.9) == Instant(seconds: 1))
        #expect(Instant(epoch: -0.5) == Instant(seconds: -1))
        #expect(Instant(epoch: .infinity) == nil)
        #expect(Instant(epoch: .nan) == nil)
    }

    @Test(
        "A time of day is parsed with or without seconds",
        arguments: [("00:00", 0), ("09:00", 32_400), ("09:00:30", 32_430), ("23:59:59", 86_399)])
    func timeOfDayIsParsedWithOrWithoutSeconds(text: String, seconds: Int) {
        #expect(WallTime(text)?.seconds == seconds)
    }

    @Test(
        "An impossible time of day is refused",
        arguments: ["25:00", "24:00", "9:00", "09:60", "09:00:60", "09", "09:00:", "09:00Z", "-9:00", ""])
    func impossibleTimeOfDayIsRefused(text: String) {
        #expect(WallTime(text) == nil)
    }

    @Test("Device ids that only look alike are different")
    func devicesWhoseNamesOnlyLookAlikeAreTwo() {
        let composed = DeviceID(stored: "caf\u{E9}")
        let decomposed = DeviceID(stored: "cafe\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
    }

    @Test("A device id is never printed in full")
    func deviceIdIsNeverPrintedInFull() {
        #expect(DeviceID(stored: "0123456789").description == "0123…")
        #expect(DeviceID(stored: "01234567").description == "…")
    }

    @Test("A device's tag is stable and short, and differs from the id") func devicesTagIsStableAndShort() {
        let tag = DeviceTag("5F0C5C1E-9D3D-4E8A-B7A1-1A2B3C4D5E6F").description
        #expect(tag == DeviceTag("5F0C5C1E-9D3D-4E8A-B7A1-1A2B3C4D5E6F").description)
        #expect(tag.count == 8 && tag.allSatisfy(\.isHexDigit))
        #expect(Set((0..<1000).map { DeviceTag("device \($0)") }).count > 990)
        #expect(DeviceTag("caf\u{E9}").description != DeviceTag("cafe\u{301}").description)
        #expect(LogValue.device(DeviceID(stored: "x")) == .string(DeviceTag("x").description))
    }

    @Test("The device of a tag can be found only with the key")
    func aTagUnderAnothersKey() throws {
        let key = try #require(DeviceTag.Key(text: String(repeating: "0f", count: 16)))
        let same = try #require(DeviceTag.Key(text: key.description))
        #expect(DeviceTag("ada", under: key) == DeviceTag("ada", under: same))
        #expect(DeviceTag("ada", under: key) != DeviceTag("ada"))
        #expect(DeviceTag(text: DeviceTag("ada").description) == DeviceTag("ada"))
        for text in ["", "ada", "0123456", "012345678", "0123456789", "0123456G", "0123ABCD"] {
            #expect(DeviceTag(text: text) == nil, "\(text)")
        }
        #expect(DeviceTag.Key(text: "0f") == nil && DeviceTag.Key(text: String(repeating: "0", count: 64)) == nil)
    }

    @Test("A UUID is written as Foundation writes it, and parsed again")
    func uuidIsWrittenAsFoundationWritesIt() throws {
        let known = try #require(UUID(uuidString: "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"))
        #expect(known.text == "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6")
        for _ in 0..<1_000 {
            let uuid = UUID()
            #expect(uuid.text == uuid.uuidString)
            #expect(UUID(text: uuid.text) == uuid)
        }
    }
}
