import Observability
import Testing

@testable import Daemons

@Suite struct BusMetricsTests {
    @Test("A connected bus counts as deaf after ten seconds without an echo, until one comes")
    func deaf() {
        let metrics = BusMetrics()
        func isDeaf() -> Bool {
            var text = MetricsText()
            metrics.write(to: &text)
            return String(decoding: text.bytes, as: UTF8.self).contains("letsswitch_bus_stalled 1")
        }
        metrics.noteBus(.amqp, isConnected: true)
        #expect(metrics.noteEcho(after: .seconds(10)) == nil && !isDeaf())
        #expect(metrics.noteEcho(after: .seconds(11)) == .lost && isDeaf())
        #expect(metrics.noteEcho(after: .seconds(13)) == nil && isDeaf())
        #expect(metrics.noteEcho(after: .milliseconds(1)) == .regained && !isDeaf())
        // A bus that isn't connected is reported as such.
        #expect(metrics.noteEcho(after: .seconds(11)) == .lost)
        metrics.noteBus(.amqp, isConnected: false)
        #expect(!isDeaf() && metrics.noteEcho(after: .seconds(20)) == nil)
    }
}
