import Basics
import Testing

@Suite struct CivilDateTests {
    @Test(
        "A day since 1970 has one date, and the date has this day",
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (20_779, 2026, 11, 22),
            (47_540, 2100, 2, 28), (47_541, 2100, 3, 1), (-719_162, 1, 1, 1), (-719_163, 0, 12, 31),
            (-719_528, 0, 1, 1), (-719_529, -1, 12, 31), (2_932_896, 9999, 12, 31), (2_932_897, 10_000, 1, 1),
        ])
    func dayHasOneDate(days: Int, year: Int, month: Int, day: Int) {
        let date = CivilDate(year: year, month: month, day: day)
        #expect(CivilDate(days: days) == date)
        #expect(date.days == days)
    }

    @Test("Dates follow each other for two leap cycles")
    func datesFollowEachOther() throws {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var date = CivilDate(days: -150_000)
        for days in -150_000..<150_000 {
            try #require(CivilDate(days: days) == date && date.days == days)
            let isLeap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
            let length = date.month == 2 && isLeap ? 29 : lengths[date.month - 1]
            if date.day < length {
                date = CivilDate(year: date.year, month: date.month, day: date.day + 1)
            } else if date.month < 12 {
                date = CivilDate(year: date.year, month: date.month + 1, day: 1)
            } else {
                date = CivilDate(year: date.year + 1, month: 1, day: 1)
            }
        }
    }

    @Test("A day after the end of a month counts as a day of the next month")
    func invalidDays() {
        #expect(CivilDate(year: 2026, month: 2, day: 30).days == CivilDate(year: 2026, month: 3, day: 2).days)
    }

    @Test(
        "A UTC time is written with a date and a time of day",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (1_795_338_012, "2026-11-22T09:00:12Z"),
            (253_402_300_800, "10000-01-01T00:00:00Z"), (-62_167_219_201, "-0001-12-31T23:59:59Z"),
        ])
    func utcTimes(seconds: Int, text: String) {
        let time = UTCTime(seconds: seconds)
        #expect(time.description == text)
        #expect(text.hasPrefix(time.date.description))
        #expect(time.days * 86_400 + time.secondOfDay == seconds)
    }

    @Test("A number has at least the requested digits")
    func digits() {
        func text(_ number: Int, _ digits: Int) -> String {
            var bytes: [UInt8] = []
            bytes.append(number, digits: digits)
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(text(0, 1) == "0" && text(7, 3) == "007" && text(123, 2) == "123" && text(-7, 2) == "-07")
        #expect(text(.max, 1) == "\(Int.max)" && text(.min, 1) == "\(Int.min)")
    }
}
