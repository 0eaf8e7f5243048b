import Testing

@testable import Wire

/// A peer's bytes and the expected result: one line of the conformance list.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    typealias Event = WebSocketTranscript.Event

    /// How the reading ends.
    enum End: Sendable, Equatable {
        /// More may come.
        case open
        /// The peer's close frame was the last thing that is read.
        case closed
        /// The connection is failed with this code, for a reason that begins with this rule.
        case fails(UInt16, rule: String)
    }

    /// The rule that the case is about.
    let section: String
    let name: String
    let bytes: [UInt8]
    let events: [Event]
    let end: End
    /// The number of bytes with which the failure shows; `nil` where that is not the point.
    var shownBy: Int?
    var role = WebSocketRole.server
    var maxMessageBytes = 1 << 20
    var compression: WebSocketDeflateParameters?

    var testDescription: String { "\(section): \(name)" }

    static let all: [ConformanceCase] =
        framing + masking + opcodes + reservedBits + fragmentation + controlFrames + text + fragmentedText + closing
        + limits + compression + damagedCompression

    /// A stream that is read to its end.
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

    /// A stream that breaks the rule of `section`, or of `rule`, after `events`.
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

/// Puts the cases of a chapter together, one statement after the other.
@resultBuilder enum CaseList {
    static func buildExpression(_ example: ConformanceCase) -> [ConformanceCase] { [example] }
    static func buildExpression(_ list: [ConformanceCase]) -> [ConformanceCase] { list }
    static func buildBlock(_ lists: [ConformanceCase]...) -> [ConformanceCase] { lists.flatMap(\.self) }
    static func buildArray(_ lists: [[ConformanceCase]]) -> [ConformanceCase] { lists.flatMap(\.self) }
}

/// Bytes that differ, so that a wrong order shows; `count` of them.
func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }
}

/// ASCII letters, `count` of them.
func letters(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(0x61 + $0 % 26) }
}
