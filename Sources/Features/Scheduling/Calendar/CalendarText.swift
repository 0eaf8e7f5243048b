import Domain

/// Writes iCalendar (RFC 5545 §3.1): lines that end in CRLF, and are folded when they are longer than 75 bytes.
struct CalendarText {
    /// §3.1: of a line, its end not counted.
    private static let maxLineBytes = 75

    private(set) var bytes: [UInt8] = []

    /// A component, such as `VEVENT`, and what is in it.
    mutating func component(_ name: StaticString, _ body: (inout CalendarText) -> Void) {
        line("BEGIN:\(name)")
        body(&self)
        line("END:\(name)")
    }

    /// A property whose value is not text: a time, a number, a word, a URI. Parameters belong to the name.
    mutating func property(_ name: StaticString, _ value: String) {
        line("\(name):\(value)")
    }

    /// A property whose value is text (§3.3.11): people may have written anything.
    mutating func text(_ name: StaticString, _ value: String) {
        line("\(name):\(Self.escaped(value))")
    }

    /// `20261122T090000Z` (§3.3.5): in UTC, which no change of clocks moves.
    static func instant(_ instant: Instant) -> String {
        instant.description.filter { $0 != "-" && $0 != ":" }
    }

    /// `PT90S`, `PT1M` (§3.3.6).
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
            // §3.1: a control character can't be written in any way.
            case "\0"..."\u{1F}", "\u{7F}": escaped.append(" ")
            default: escaped.append(scalar)
            }
            follows = scalar == "\r"
        }
        return String(escaped)
    }

    /// A line that goes on is followed by one that begins with a space. Never within a character: some programs decode each
    /// line by itself.
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
