import Domain

/// Writes iCalendar (RFC 5545 §3.1). Lines end in CRLF and are folded after 75 bytes.
struct CalendarText {
    /// The maximum number of bytes in a line without its CRLF (§3.1).
    private static let maxLineBytes = 75

    private(set) var bytes: [UInt8] = []

    /// Writes a component, such as `VEVENT`, with its content.
    mutating func component(_ name: StaticString, _ body: (inout CalendarText) -> Void) {
        line("BEGIN:\(name)")
        body(&self)
        line("END:\(name)")
    }

    /// Writes a property whose value isn't text: a time, a number, a word, a URI. The name includes its parameters.
    mutating func property(_ name: StaticString, _ value: String) {
        line("\(name):\(value)")
    }

    /// Writes a property whose value is text (§3.3.11). The text may contain anything.
    mutating func text(_ name: StaticString, _ value: String) {
        line("\(name):\(Self.escaped(value))")
    }

    /// Returns `20261122T090000Z` (§3.3.5). UTC has no daylight saving time.
    static func instant(_ instant: Instant) -> String {
        instant.description.filter { $0 != "-" && $0 != ":" }
    }

    /// Returns `PT90S` or `PT1M` (§3.3.6).
    static func duration(seconds: Int) -> String {
        seconds > 0 && seconds.isMultiple(of: 60) ? "PT\(seconds / 60)M" : "PT\(seconds)S"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        var follows = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", ";", ",":
                escaped.append("\\")
                escaped.append(scalar)
            case "\n" where follows: break
            case "\n", "\r":
                escaped.append("\\")
                escaped.append("n")
            case "\t": escaped.append(scalar)
            // Control characters aren't allowed (§3.1). A space replaces each.
            case "\0"..."\u{1F}", "\u{7F}": escaped.append(" ")
            default: escaped.append(scalar)
            }
            follows = scalar == "\r"
        }
        return String(escaped)
    }

    /// Writes a line. A folded line continues after a space. A fold never splits a character, because some programs
    /// decode each line separately.
    private mutating func line(_ text: String) {
        var room = Self.maxLineBytes
        for scalar in text.unicodeScalars {
            let encoded = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            if encoded.count > room {
                bytes.append(contentsOf: "\r\n ".utf8)
                room = Self.maxLineBytes - 1
            }
            bytes.append(contentsOf: encoded)
            room -= encoded.count
        }
        bytes.append(contentsOf: "\r\n".utf8)
    }
}
