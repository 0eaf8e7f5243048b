import Basics
import Testing

@testable import Daemons

/// How soon a bus works again after an outage. The tests of outages see that it does at all, on any machine.
@Suite struct BusPromiseTests {
    @Test("The bus over PostgreSQL tries to connect at least once a second")
    func pauses() {
        var retries = NotifyBus.retries
        for _ in 0..<100 { #expect(retries.next(random: 0) <= .seconds(1)) }
    }
}
