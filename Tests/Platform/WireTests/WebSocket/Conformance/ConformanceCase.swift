import Testing

@testable import Wire

/// A peer's bytes and the expected result: one line of the conformance list.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    typealias Event = WebSocketTranscript.Event

    /// The state after all bytes are read.
    enum End: Sendable, Equatable {
        /// The connection is open.
        case open
        /// The peer has sent a close frame. Nothing after it is read.
        case closed
        /// The connection fails with this code. The reason begins with this rule.
        case fails(UInt16, rule: String)
    }

    /// The rule that the case is about.
    let section: String
    let name: String
    let bytes: [UInt8]
    let events: [Event]
    let end: End
    /// The number of bytes after which the error is known; `nil` if the case doesn't check that.
    var shownBy: Int?
    var role = WebSocketRole.server
    var maxMessageBytes = 1 << 20
    var compression: WebSocketDeflateParameters?

    var testDescription: String { "\(section): \(name)" }

    static let all: [ConformanceCase] =
        framing + masking + opcodes + reservedBits + fragmentation + controlFrames + text + fragmentedText + closing
        + limits + compression + damagedCompression

    /// Returns a case whose bytes are all accepted.
    static func reads(
        _ section: String, _ name: String, _ bytes: [UInt8], _ events: [Event], role: WebSocketRole = .server,
        limit: Int = 1 << 20, compression: WebSocketDeflateParameters? = nil
    ) -> ConformanceCase {
        var end = End.open
        if case .close? = events.last { end = .closed }
        return ConformanceCase(
            section: section, name: name, bytes: bytes, events: events, end: end, role: role, maxMessageBytes: limit,
            compression: compression)
    }

    /// Returns a case that breaks the rule of `section`, or of `rule`, after `events`.
    static func fails(
        _ section: String, _ name: String, _ bytes: [UInt8], with code: UInt16 = 1002, rule: String? = nil,
        after events: [Event] = [], shownBy: Int? = nil, role: WebSocketRole = .server, limit: Int = 1 << 20,
        compression: WebSocketDeflateParameters? = nil
    ) -> ConformanceCase {
        ConformanceCase(
            section: section, name: name, bytes: bytes, events: events, end: .fails(code, rule: rule ?? section),
            shownBy: shownBy, role: role, maxMessageBytes: limit, compression: compression)
    }
}

/// Collects the cases of a chapter, one in each statement.
@resultBuilder enum CaseList {
    static func buildExpression(_ example: ConformanceCase) -> [ConformanceCase] { [example] }
    static func buildExpression(_ list: [ConformanceCase]) -> [ConformanceCase] { list }
    static func buildBlock(_ lists: [ConformanceCase]...) -> [ConformanceCase] { lists.flatMap(\.self) }
    static func buildArray(_ lists: [[ConformanceCase]]) -> [ConformanceCase] { lists.flatMap(\.self) }
}

/// Returns `count` bytes that differ, so that a wrong order is detected.
func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }
}

/// Returns `count` ASCII letters.
func letters(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(0x61 + $0 % 26) }
}
