import Foundation
import TestSupport

/// Writes answers into `answers.txt`, the source of the examples in `/openapi.json`. Values that differ from run to run
/// are replaced, so that the file changes only if an answer has changed.
enum AnswerRecord {
    static let isWanted = ProcessInfo.processInfo.environment["LETSSWITCH_RECORD_EXAMPLES"] != nil

    private static let file = Checkout.url("Sources/Operations/APIDescription/answers.txt")

    static func write(_ received: [(operation: String, status: Int, answer: TestJSON)]) throws {
        var identifiers: [String] = []
        var lines: [String: String] = [:]
        // The answers are read in the order in which they were received, so the same object gets the same name.
        for (operation, status, answer) in received {
            let line = "\(operation) \(status)"
            let text = String(decoding: try answer.encoded(), as: UTF8.self)
            if lines[line] == nil { lines[line] = "\(line) \(normalized(text, &identifiers))\n" }
        }
        try lines.sorted { $0.key < $1.key }.map(\.value).joined().write(to: file, atomically: true, encoding: .utf8)
    }

    /// Replaces UUIDs by numbered ones and secrets by invalid ones of the same length, and removes fractions of
    /// seconds.
    private static func normalized(_ text: String, _ identifiers: inout [String]) -> String {
        var text = text
        for match in text.matches(of: #/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/#).map({ String($0.output.0) }) {
            let index = identifiers.firstIndex(of: match) ?? identifiers.endIndex
            if index == identifiers.endIndex { identifiers.append(match) }
            let number = String(format: "%012X", index + 1)
            text = text.replacing(match, with: "4294EB43-D59F-4C87-BBC9-\(number)")
        }
        text.replace(#/[0-9a-f]{32,}/#) { String(repeating: "8f14e45fceea167a", count: 4).prefix($0.output.count) }
        text.replace(
            #/(?<name>"(?:presenterKey|publicKey|topic|url)":")(?<prefix>[^"]*?)(?<secret>[A-Za-z0-9_-]{20,})/#
        ) {
            let secret = String(repeating: "q83vEjRWeJ", count: 12).prefix($0.output.secret.count)
            return "\($0.output.name)\($0.output.prefix)\(secret)"
        }
        text.replace(#/T(?<minute>[0-9]{2}:[0-9]{2}):[0-9]{2}Z/#) { "T\($0.output.minute):00Z" }
        return text
    }
}
