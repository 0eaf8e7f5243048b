import Features
import Observability
import Reminders
import Server
import Testing

@testable import LetsSwitch
@testable import Settings

@Suite struct ProductMetricsTests {
    private func render(_ write: (inout MetricsText) -> Void) -> String {
        var text = MetricsText()
        write(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test("Unknown statements are counted as others") func unknownStatementsAreCountedAsOthers() {
        let metrics = DatabaseMetrics(statements: ["register", "register", "other"])
        metrics.query("register", took: .milliseconds(1), .succeeded)
        metrics.query("mystery", took: .milliseconds(1), .failed)
        let page = render(metrics.write)
        #expect(page.contains(#"letsswitch_db_query_seconds_count{name="register"} 1"#))
        #expect(page.contains(#"letsswitch_db_query_seconds_count{name="other"} 1"#))
        #expect(page.contains(#"letsswitch_db_queries_total{outcome="failed"} 1"#))
        #expect(!page.contains("mystery"))
    }

    @Test("Results are present from the start, at zero") func outcomesAreThereFromTheStartAtZero() {
        let metrics = ReminderMetrics()
        metrics.remindersDelivered(2)
        metrics.reminderLateness.observe(.milliseconds(12))
        let page = render(metrics.write)
        #expect(page.contains(#"letsswitch_reminders_total{outcome="delivered"} 2"#))
        #expect(page.contains(#"letsswitch_reminders_total{outcome="missed"} 0"#))
        #expect(page.contains(#"letsswitch_reminder_lateness_seconds_bucket{le="0.01"} 0"#))
        #expect(page.contains(#"letsswitch_reminder_lateness_seconds_bucket{le="0.02"} 1"#))
    }

    @Test("A refusal by a limit is counted under the limit's name")
    func causesAreSettings() {
        let page = render {
            LoopCounters().write(openConnections: 0, to: &$0)
            ProductMetrics(statements: []).write([], to: &$0)
        }
        let causes = page.matches(of: /cause="([^"]*)"/).map { String($0.output.1) }
        #expect(causes.count > 20)
        #expect(Set(causes).subtracting(SettingTable.all.map(\.name)).isEmpty)
    }

    @Test("Every line of the metrics page is a sample or a header")
    func everyLineOfMetricsPageIsSampleOrHeader() throws {
        var text = MetricsText()
        ProductMetrics(statements: ["a"]).write([], to: &text)
        try #require(ProcessMetrics.current()).write(to: &text)
        let lines = String(decoding: text.bytes, as: UTF8.self).split(separator: "\n")
        for line in lines where !line.hasPrefix("# ") {
            #expect(line.wholeMatch(of: /[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+/) != nil, "\(line)")
        }
        let families = lines.filter { $0.hasPrefix("# TYPE ") }
        #expect(Set(families).count == families.count)
    }
}
