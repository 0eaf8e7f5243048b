import Foundation
import TestSupport

/// Writes answers into the files `examples.txt`, the sources of the examples in `/openapi.json`. Values that differ from run
/// to run are replaced, so that a file changes only if an answer has changed.
enum AnswerRecord {
    static let isWanted = ProcessInfo.processInfo.environment["LETSSWITCH_RECORD_EXAMPLES"] != nil

    /// The files of the features, and that of the routes of no feature. A new operation is written to the last one, from
    /// where its line is moved by hand.
    private static let files =
        ["Schedule", "Reminders", "Matches", "Notifications", "Questions", "Conversations"].map {
            Checkout.url("Sources/Features/\($0)/API/examples.txt")
        } + [Checkout.url("Sources/Operations/APIDescription/examples.txt")]

    static func write(_ received: [(operation: String, status: Int, answer: TestJSON)]) throws {
        var identifiers: [String] = []
        var lines: [String: String] = [:]
        // The answers are read in the order in which they were received, so the same object gets the same name.
        for (operation, status, answer) in received {
            let line = "\(operation) \(status)"
            let text = String(decoding: try answer.encoded(), as: UTF8.self)
            if lines[line] == nil { lines[line] = "\(line) \(normalized(text, &identifiers))\n" }
        }
        for (index, file) in files.enumerated() {
            let old = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            let (answers, errors) = (old.filter { !Self.isError($0) }, old.filter(Self.isError))
            let names = Set(answers.map { Self.name(of: $0) })
            let own = lines.filter { names.contains($0.key) || index == files.count - 1 }
            for name in own.keys { lines[name] = nil }
            let text = own.sorted { $0.key < $1.key }.map(\.value).joined() + errors.map { $0 + "\n" }.joined()
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
    }

    /// Returns the operation and the status of a line.
    private static func name(of line: Substring) -> String {
        line.split(separator: " ", maxSplits: 2).prefix(2).joined(separator: " ")
    }

    private static func isError(_ line: Substring) -> Bool {
        (line.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) } ?? 0) >= 400
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
