import Domain
import FoundationEssentials
import Wire

extension CalendarFeed {
    private static let name = "Let's Switch"
    /// The interval at which calendar programs should reload the feed (RFC 7986 §5.7). Older programs read the same
    /// value from `X-PUBLISHED-TTL`.
    private static let refresh = "PT15M"
    /// The maximum length of an entry, in seconds. A longer entry could overlap the next session, although the room may
    /// stay open longer.
    private static let longestEntry = 3600
    private static let shortestEntry = 60

    /// Returns the feed in iCalendar (RFC 5545). The bytes are the same as long as the feed doesn't change.
    ///
    /// - Parameter publicURL: The address of the page, without a slash at the end.
    package func calendar(publicURL: String?) -> [UInt8] {
        var text = CalendarText()
        text.component("VCALENDAR") { calendar in
            calendar.property("VERSION", "2.0")
            calendar.text("PRODID", "-//Let's Switch//letsswitchd//EN")
            calendar.property("CALSCALE", "GREGORIAN")
            calendar.property("METHOD", "PUBLISH")
            calendar.text("NAME", Self.name)
            calendar.text("X-WR-CALNAME", Self.name)
            calendar.property("REFRESH-INTERVAL;VALUE=DURATION", Self.refresh)
            calendar.property("X-PUBLISHED-TTL", Self.refresh)
            for entry in entries { write(entry, publicURL, to: &calendar) }
            if entries.isEmpty { Self.writeZone(to: &calendar) }
        }
        return text.bytes
    }

    private func write(_ entry: Entry, _ publicURL: String?, to calendar: inout CalendarText) {
        let open = entry.closesAt.seconds - entry.startsAt.seconds
        let length = max(Self.shortestEntry, min(open, Self.longestEntry))
        let lead = max(0, entry.startsAt.seconds - entry.remindsAt.seconds)
        calendar.component("VEVENT") { event in
            // The UID is a UUID and nothing else (RFC 7986 §5.3).
            event.property("UID", entry.taskId.text)
            event.property("DTSTAMP", CalendarText.instant(revisedAt))
            event.property("LAST-MODIFIED", CalendarText.instant(revisedAt))
            event.property("SEQUENCE", "\(revision)")
            event.property("DTSTART", CalendarText.instant(entry.startsAt))
            event.property("DTEND", CalendarText.instant(Instant(seconds: entry.startsAt.seconds + length)))
            event.property("STATUS", "CONFIRMED")
            event.text("SUMMARY", entry.summary)
            event.text("DESCRIPTION", entry.explanation)
            if let publicURL { event.property("URL", "\(publicURL)/#room/\(entry.startsAt)") }
            event.component("VALARM") { alarm in
                alarm.property("ACTION", "DISPLAY")
                alarm.property("TRIGGER", "-\(CalendarText.duration(seconds: lead))")
                alarm.text("DESCRIPTION", entry.summary)
            }
        }
    }

    /// Writes a time zone to a feed without entries, because RFC 5545 §3.6 requires at least one component. Calendar
    /// programs don't show it.
    private static func writeZone(to calendar: inout CalendarText) {
        calendar.component("VTIMEZONE") { zone in
            zone.property("TZID", "UTC")
            zone.component("STANDARD") { standard in
                standard.property("DTSTART", "19700101T000000")
                standard.property("TZOFFSETFROM", "+0000")
                standard.property("TZOFFSETTO", "+0000")
            }
        }
    }
}

extension CalendarFeed.Entry {
    var summary: String {
        guard let partnerTitle else { return BidirectionalText.closed(title) }
        return "\(BidirectionalText.quoted(title)) (with: \(BidirectionalText.quoted(partnerTitle)))"
    }

    fileprivate var explanation: String {
        if let partnerTitle {
            return "Somebody starts at the same time: \(BidirectionalText.quoted(partnerTitle))"
        }
        return isPaired ? "Somebody starts at the same time." : "Nobody else starts at this time yet."
    }
}
