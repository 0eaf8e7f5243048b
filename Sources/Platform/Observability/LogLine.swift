/// Formats an event as one line of bytes. It does no I/O and has no clock.
///
/// ```
/// text  08:59:00.012 info    reminder task=1C0A… late_ms=12 reason="said \"no\"\n"
/// json  {"ts":"2026-11-22T08:59:00.012Z","level":"info","msg":"reminder","task":"1C0A…","late_ms":12}
/// ```
///
/// The result is always one line without terminal control sequences, whatever the values contain.
struct LogLine {
    let format: LogFormat
    /// Whether the name of the level is coloured.
    let colours: Bool

    func encode(
        _ level: LogLevel, _ event: String, _ values: KeyValuePairs<String, LogValue>, at time: LogTimestamp
    ) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(160)
        switch format {
        case .text: appendText(level, event, values, time, to: &line)
        case .json: appendJSON(level, event, values, time, to: &line)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    // MARK: Text

    private func appendText(
        _ level: LogLevel, _ event: String, _ values: KeyValuePairs<String, LogValue>, _ time: LogTimestamp,
        to line: inout [UInt8]
    ) {
        time.appendTime(to: &line)
        line.append(UInt8(ascii: " "))
        let colour = colours ? Self.colour(level) : nil
        if let colour { line.append(contentsOf: "\u{1B}[\(colour)m".utf8) }
        line.append(contentsOf: level.rawValue.utf8)
        if colour != nil { line.append(contentsOf: "\u{1B}[0m".utf8) }
        for _ in level.rawValue.utf8.count..<Self.levelWidth { line.append(UInt8(ascii: " ")) }
        Self.appendEscaped(event, to: &line)
        for (key, value) in values {
            line.append(UInt8(ascii: " "))
            line.append(contentsOf: key.utf8)
            line.append(UInt8(ascii: "="))
            guard case .string(let string) = value else {
                Self.appendNumber(value, to: &line)
                continue
            }
            if Self.needsQuotes(string) {
                line.append(UInt8(ascii: "\""))
                Self.appendEscaped(string, to: &line)
                line.append(UInt8(ascii: "\""))
            } else {
                Self.appendEscaped(string, to: &line)
            }
        }
    }

    /// The width of the longest level's name and a space.
    private static let levelWidth = "warning ".utf8.count

    private static func colour(_ level: LogLevel) -> Int? {
        switch level {
        case .debug: 2
        case .info: nil
        case .warning: 33
        case .error: 31
        }
    }

    private static func needsQuotes(_ string: String) -> Bool {
        string.isEmpty
            || string.unicodeScalars.contains { scalar in
                scalar == "\"" || scalar == "=" || scalar == "\\" || scalar == " " || isControl(scalar)
            }
    }

    // MARK: JSON

    private func appendJSON(
        _ level: LogLevel, _ event: String, _ values: KeyValuePairs<String, LogValue>, _ time: LogTimestamp,
        to line: inout [UInt8]
    ) {
        line.append(contentsOf: "{\"ts\":\"".utf8)
        time.appendDate(to: &line)
        line.append(UInt8(ascii: "T"))
        time.appendTime(to: &line)
        line.append(contentsOf: "Z\",\"level\":\"\(level.rawValue)\",\"msg\":\"".utf8)
        Self.appendEscaped(event, to: &line)
        line.append(UInt8(ascii: "\""))
        for (key, value) in values {
            line.append(contentsOf: ",\"".utf8)
            Self.appendEscaped(key, to: &line)
            line.append(contentsOf: "\":".utf8)
            guard case .string(let string) = value else {
                Self.appendNumber(value, to: &line)
                continue
            }
            line.append(UInt8(ascii: "\""))
            Self.appendEscaped(string, to: &line)
            line.append(UInt8(ascii: "\""))
        }
        line.append(UInt8(ascii: "}"))
    }

    // MARK: Both

    private static func appendNumber(_ value: LogValue, to line: inout [UInt8]) {
        switch value {
        case .string(let string): appendEscaped(string, to: &line)
        case .int(let number): line.append(contentsOf: String(number).utf8)
        case .bool(let bool): line.append(contentsOf: (bool ? "true" : "false").utf8)
        case .double(let number):
            // JSON can't express infinities and NaN (RFC 8259 §6).
            line.append(contentsOf: (number.isFinite ? String(number) : "null").utf8)
        }
    }

    /// The maximum length of a text in Unicode scalars. The text may come from a peer.
    static let maxScalars = 1_024

    /// Appends a text, cut at ``maxScalars``. Escapes the characters that RFC 8259 §7 requires, C1 controls, separators
    /// that some readers treat as line ends, and characters that are invisible or change the text's direction.
    private static func appendEscaped(_ string: String, to line: inout [UInt8]) {
        // Usually the text needs no escape and is copied as a whole.
        let isWritten = string.utf8.withContiguousStorageIfAvailable { bytes in
            guard bytes.count <= maxScalars, bytes.allSatisfy(isPlain) else { return false }
            line.append(contentsOf: bytes)
            return true
        }
        if isWritten == true { return }
        var left = maxScalars
        for scalar in string.unicodeScalars {
            guard left > 0 else {
                line.append(contentsOf: "…".utf8)
                return
            }
            left -= 1
            switch scalar {
            case "\"": line.append(contentsOf: #"\""#.utf8)
            case "\\": line.append(contentsOf: #"\\"#.utf8)
            case "\n": line.append(contentsOf: #"\n"#.utf8)
            case "\r": line.append(contentsOf: #"\r"#.utf8)
            case "\t": line.append(contentsOf: #"\t"#.utf8)
            default:
                if isControl(scalar) {
                    for unit in String(scalar).utf16 { appendEscape(unit, to: &line) }
                } else {
                    line.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                }
            }
        }
    }

    /// Whether a byte is an ASCII character that needs no escape.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func appendEscape(_ unit: UInt16, to line: inout [UInt8]) {
        let hex = String(unit, radix: 16)
        line.append(contentsOf: "\\u".utf8)
        for _ in hex.utf8.count..<4 { line.append(UInt8(ascii: "0")) }
        line.append(contentsOf: hex.utf8)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F: return true
        // Most lines contain only these characters.
        case 0x20..<0x7F: return false
        default:
            let category = scalar.properties.generalCategory
            return category == .format || category == .lineSeparator || category == .paragraphSeparator
        }
    }
}

/// The format of a line: for people, or for a collector.
package enum LogFormat: String, Sendable {
    case text, json
}
