import JourneyTestSupport
import TestSupport
import Testing

/// The document, the alert rules and the dashboard name only metrics that exist.
@Suite struct MetricsDocumentTests {
    @Test("The documented metrics are exactly those of a daemon with all features")
    func document() async throws {
        let rows = try MetricsPages.documented()
        #expect(Set(rows.map(\.name)).count == rows.count)
        for row in rows { #expect(!row.unit.isEmpty && !row.meaning.isEmpty, "\(row.name)") }
        try await Journey.run { journey in
            let documented = Set(rows.map(\.name))
            let shown = MetricsPages.families(try await CountingDaemons(journey).page(with: documented))
            #expect(shown.subtracting(documented).sorted() == [], "not in METRICS.md")
            #expect(documented.subtracting(shown).sorted() == [], "in METRICS.md alone")
        }
    }

    @Test("Rules and dashboard use only metrics that exist", arguments: ["letsswitch.rules.yml", "dashboard.json"])
    func asked(file: String) throws {
        let asked = try MetricsPages.asked("Prometheus/\(file)")
        #expect(asked.count > 10)
        #expect(asked.subtracting(try MetricsPages.documented().map(\.name)).sorted() == [])
    }

    @Test("Each alert is tested") func alerts() throws {
        let rules = try MetricsPages.text("Prometheus/letsswitch.rules.yml").matches(of: #/alert: ([A-Za-z]+)/#)
        let tests = try MetricsPages.text("Prometheus/letsswitch.rules.test.yml")
        #expect(rules.count > 10)
        for rule in rules { #expect(tests.contains("alertname=\"\(rule.output.1)\""), "\(rule.output.1)") }
    }
}
