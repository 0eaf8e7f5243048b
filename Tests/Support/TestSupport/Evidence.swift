import Basics
import Foundation
import Testing

/// The state of a test's world, for the report of a wait that ends in vain: the last answers, the clock, the daemons' logs and the pages.
///
/// Daemons, clocks and pages add their reports by themselves. A journey and a page's world have evidence of their own
/// (``collect(isolation:_:)``). Outside of these all cases of one test share it.
package final class Evidence: Sendable {
    /// Lines of a log in a report.
    package static let logLines = 50
    /// Answers in a report, and characters of each.
    private static let answerLimit = (count: 3, characters: 1_000)

    private struct Contents {
        var reports: [@Sendable () -> String?] = []
        var slowReports: [@Sendable () async -> String?] = []
        var answers: [@Sendable () -> String] = []
    }

    private let contents = Locked(Contents())

    @TaskLocal private static var own: Evidence?
    private static let byTest = Locked<[Test.ID: Evidence]>([:])

    private init() {}

    private static var current: Evidence? {
        if let own { return own }
        guard let test = Test.current?.id else { return nil }
        return byTest.withLock { all in
            let evidence = all[test] ?? Evidence()
            all[test] = evidence
            return evidence
        }
    }

    // MARK: What is collected

    /// Adds a part of every later report of this test. It returns `nil` if its subject is gone.
    package static func add(_ report: @escaping @Sendable () -> String?) {
        current?.contents.withLock { $0.reports.append(report) }
    }

    /// Adds a part that takes time, such as a query or a screenshot. Only ``collect(isolation:_:)`` asks for it.
    package static func addSlow(_ report: @escaping @Sendable () async -> String?) {
        current?.contents.withLock { $0.slowReports.append(report) }
    }

    /// Adds an answer that the test received. A report has the last ones: a wait that asks again and again reports by them what it saw.
    package static func note(_ answer: @escaping @Sendable () -> String) {
        current?.contents.withLock {
            $0.answers.append(answer)
            if $0.answers.count > answerLimit.count { $0.answers.removeFirst() }
        }
    }

    // MARK: Reports

    /// Everything that is known without waiting; empty if that is nothing. Each line is indented.
    static var report: String {
        guard let contents = current?.contents.withLock({ $0 }) else { return "" }
        let answers = contents.answers.map { String($0().prefix(answerLimit.characters)) }
        let received = answers.isEmpty ? nil : "The last answers:\n" + answers.joined(separator: "\n")
        return text(([received] + contents.reports.map { $0() }).compactMap(\.self))
    }

    /// Does `body` with evidence of its own. If a wait in it ends in vain and its failure leaves `body`, the failure also has the reports
    /// that take time.
    package static func collect<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let evidence = Evidence()
        do {
            return try await $own.withValue(evidence, operation: body, isolation: isolation)
        } catch let failure as ClientFailure {
            throw failure.adding(await evidence.slowReport(of: failure))
        }
    }

    private func slowReport(of failure: ClientFailure) async -> String {
        guard failure.isVain else { return "" }
        var parts: [String] = []
        for report in contents.withLock({ $0.slowReports }) {
            if let part = await report() { parts.append(part) }
        }
        return Self.text(parts)
    }

    private static func text(_ parts: [String]) -> String {
        parts.map { part in
            let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.enumerated().map { "\n\($0 == 0 ? "  " : "    ")\($1)" }.joined()
        }.joined()
    }

    // MARK: Files

    private static let lastFile = Locked(0)

    /// Stores a file with the test report. Returns its path relative to `.build/failures`.
    package static func keep(_ bytes: [UInt8], extension suffix: String) throws -> String {
        let folder = Checkout.url(".build/failures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let number = lastFile.withLock {
            $0 += 1
            return $0
        }
        let test = (Test.current?.id.description ?? "").split(separator: "/").prefix(2).joined(separator: "-")
        let name = test.filter { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" }
        let file = folder.appending(path: "\(name)-\(ProcessInfo.processInfo.processIdentifier)-\(number).\(suffix)")
        try Data(bytes).write(to: file)
        return file.path
    }
}

extension ClientFailure {
    /// Whether a wait ended in vain.
    fileprivate var isVain: Bool {
        switch self {
        case .timedOut, .ended: true
        default: false
        }
    }

    /// Adds the evidence of the test to the failure of a wait.
    package var withEvidence: ClientFailure { isVain ? adding(Evidence.report) : self }

    fileprivate func adding(_ report: String) -> ClientFailure {
        switch self {
        case .timedOut(let what, let allowed, let received):
            .timedOut(waitingFor: what, after: allowed, received: received + report)
        case .ended(let what, let received): .ended(waitingFor: what, received: received + report)
        default: self
        }
    }
}

extension Evidence {
    /// Adds the newest lines of a daemon's log to every later report of this test.
    ///
    /// - Parameter lines: Returns the log, or `nil` if the daemon is gone.
    package static func addLog(of daemon: String, _ lines: @escaping @Sendable () -> EventRecorder<OutputLine>?) {
        add {
            guard let newest = lines()?.newest(logLines) else { return nil }
            return "The log of \(daemon), last \(newest.count) lines:" + newest.map { "\n\($0)" }.joined()
        }
    }
}
