import Domain
import Foundation
import TestSupport
import Testing

@testable import Schedule

@Suite struct CalendarTextTests {
    private static let start = Instant(seconds: 1_795_338_000)

    private static func feed(_ title: String, partner: String? = nil, lead: Int = 60, open: Int = 3600) -> CalendarFeed
    {
        CalendarFeed(
            revision: 3, revisedAt: Instant(seconds: start.seconds - 7200),
            entries: [
                CalendarFeed.Entry(
                    taskId: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), title: title,
                    partnerTitle: partner, isPaired: partner != nil, startsAt: start,
                    remindsAt: Instant(seconds: start.seconds - lead), closesAt: Instant(seconds: start.seconds + open))
            ])
    }

    private static func lines(_ feed: CalendarFeed, publicURL: String? = nil) -> [String] {
        let text = String(decoding: feed.calendar(publicURL: publicURL), as: UTF8.self)
        return text.components(separatedBy: "\r\n")
    }

    @Test("A task is an event with an alarm")
    func taskIsEventWithAlarm() {
        #expect(
            Self.lines(Self.feed("History", partner: "Maths"), publicURL: "https://example.org") == [
                "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Let's Switch//letsswitchd//EN", "CALSCALE:GREGORIAN",
                "METHOD:PUBLISH", "NAME:Let's Switch", "X-WR-CALNAME:Let's Switch",
                "REFRESH-INTERVAL;VALUE=DURATION:PT15M", "X-PUBLISHED-TTL:PT15M",
                "BEGIN:VEVENT", "UID:01020304-0506-0708-090A-0B0C0D0E0F10", "DTSTAMP:20261122T070000Z",
                "LAST-MODIFIED:20261122T070000Z", "SEQUENCE:3", "DTSTART:20261122T090000Z", "DTEND:20261122T100000Z",
                "STATUS:CONFIRMED", "SUMMARY:History (with: Maths)",
                "DESCRIPTION:Somebody starts at the same time: Maths",
                "URL:https://example.org/#room/2026-11-22T09:00:00Z",
                "BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT1M", "DESCRIPTION:History (with: Maths)", "END:VALARM",
                "END:VEVENT", "END:VCALENDAR", "",
            ])
    }

    @Test("A calendar without tasks still has a component")
    func calendarWithoutTasksStillHasComponent() {
        let feed = CalendarFeed(revision: 0, revisedAt: Self.start, entries: [])
        let lines = Self.lines(feed)
        #expect(lines.contains("BEGIN:VTIMEZONE"))
        #expect(!lines.contains("BEGIN:VEVENT"))
    }

    @Test(
        "Users' text is escaped",
        arguments: [
            ("a, b; c", #"a\, b\; c"#), (#"C:\n"#, #"C:\\n"#), ("two\nlines", #"two\nlines"#),
            ("two\r\nlines\rand\n\nmore", #"two\nlines\nand\n\nmore"#), ("a\u{0}b\u{7}c\u{7F}d\te", "a b c d\te"),
            ("BEGIN:VALARM", "BEGIN:VALARM"), ("\"quoted\": (x)", "\"quoted\": (x)"),
        ])
    func usersTextIsEscaped(_ title: String, _ written: String) {
        #expect(Self.lines(Self.feed(title)).contains("SUMMARY:\(written)"))
    }

    @Test("A right-to-left title doesn't affect the text around it")
    func rightToLeftTitleDoesNotAffectTextAroundIt() {
        let pair = Self.lines(Self.feed("שלום", partner: "a\u{202E}b"))
        #expect(pair.contains("SUMMARY:\u{2068}שלום\u{2069} (with: \u{2068}a\u{202E}b\u{202C}\u{2069})"))
        let alone = Self.lines(Self.feed("\u{2066}שלום"))
        #expect(alone.contains("SUMMARY:\u{2066}שלום\u{2069}"))
        // The explanation is longer than a line.
        let unfolded = pair.joined(separator: "\r\n").replacing("\r\n ", with: "")
        #expect(unfolded.contains("DESCRIPTION:Somebody starts at the same time: \u{2068}a\u{202E}b\u{202C}\u{2069}"))
    }

    @Test(
        "The alarm is at the lead",
        arguments: [(0, "-PT0S"), (1, "-PT1S"), (59, "-PT59S"), (60, "-PT1M"), (90, "-PT90S"), (3600, "-PT60M")])
    func theAlarmIsAtTheLead(_ lead: Int, _ trigger: String) {
        #expect(Self.lines(Self.feed("x", lead: lead)).contains("TRIGGER:\(trigger)"))
    }

    @Test(
        "An entry is as long as its room is open, between a minute and an hour",
        arguments: [(0, "090100"), (60, "090100"), (600, "091000"), (3600, "100000"), (86_400, "100000")])
    func entryLastsAsLongAsItsRoomIsOpenBetweenMinuteAndHour(_ open: Int, _ end: String) {
        #expect(Self.lines(Self.feed("x", open: open)).contains("DTEND:20261122T\(end)Z"))
    }

    /// Lines of every length, with characters of one to four bytes. Unfolding must restore the title.
    @Test(
        "No line exceeds 75 bytes or splits a character",
        arguments: ["x", "é", "語", "🎹", "x語🎹é"])
    func noLineExceeds75Bytes(_ character: String) throws {
        for count in 0...160 {
            let title = "T" + String(repeating: character, count: count)
            let bytes = Self.feed(title).calendar(publicURL: nil)
            #expect(Array(bytes.suffix(2)) == [13, 10])
            var unfolded = ""
            for line in bytes.dropLast(2).split(separator: 10, omittingEmptySubsequences: false) {
                let line = line.last == 13 ? line.dropLast() : line
                #expect(line.count <= 75)
                #expect(!line.contains(13))
                let text = try #require(String(validating: line, as: UTF8.self))
                unfolded += text.hasPrefix(" ") ? String(text.dropFirst()) : "\n" + text
            }
            #expect(unfolded.contains("\nSUMMARY:\(title)\n"))
        }
    }
}
