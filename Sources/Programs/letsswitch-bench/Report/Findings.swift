import FoundationEssentials

/// Measured values and their limits, one on each line. This is the report of a benchmark that isn't a table of
/// workloads.
struct Findings: Encodable {
    struct Finding: Encodable {
        let what: String
        let value: Double
        let unit: String
        /// The limit, in words; empty if there is none.
        let wanted: String
        let isMet: Bool?
    }

    /// A description of the machine, made at the start of the run.
    let machine = Report.describeMachine()
    let title: String
    var findings: [Finding] = []

    init(_ title: String) {
        self.title = title
    }

    /// Adds a figure without a limit.
    mutating func add(_ what: String, _ value: Double, _ unit: String) {
        findings.append(Finding(what: what, value: value, unit: unit, wanted: "", isMet: nil))
    }

    mutating func add(_ what: String, _ value: Double, _ unit: String, atMost limit: Double) {
        findings.append(
            Finding(what: what, value: value, unit: unit, wanted: "≤ \(Column.number(limit))", isMet: value <= limit))
    }

    mutating func add(_ what: String, _ value: Double, _ unit: String, atLeast limit: Double) {
        findings.append(
            Finding(what: what, value: value, unit: unit, wanted: "≥ \(Column.number(limit))", isMet: value >= limit))
    }

    mutating func add(_ what: String, _ value: Int, exactly wanted: Int) {
        findings.append(
            Finding(
                what: what, value: Double(value), unit: "", wanted: "= \(Column.grouped(wanted))",
                isMet: value == wanted))
    }

    func render() -> String {
        let lines = findings.map { finding in
            [
                finding.what, Column.number(finding.value), finding.unit,
                finding.isMet.map { ($0 ? "yes: " : "NO: ") + finding.wanted } ?? "",
            ]
        }
        return "\(machine)\n\(title)\n\n\(Column.align(lines))"
    }
}

extension Encodable {
    /// Writes the report as JSON.
    func writeJSON(to path: String) throws(BenchFailure) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(self).write(to: URL(filePath: path))
        } catch {
            throw BenchFailure("\(path): \(error)")
        }
    }
}
