import Rooms
import Testing

@testable import Daemons

@Suite struct NotifyLinkTests {
    @Test("A connection and its loss are each reported once")
    func life() {
        var link = NotifyLink()
        #expect(link.listening() == nil && !link.isUp)
        #expect(link.sending() == .connected && link.isUp)
        #expect(link.listening() == nil && link.sending() == nil)
        #expect(link.lost("a", stillListens: true) == .lost(message: "a"))
        #expect(link.lost("b", stillListens: false) == nil && !link.isUp)
        #expect(link.sending() == nil)
        #expect(link.listening() == .connected)
        // After the loss of the listener, the sender must connect again too.
        #expect(link.lost("c", stillListens: false) == .lost(message: "c"))
        #expect(link.listening() == nil && link.sending() == .connected)
    }

    @Test("A database that is unavailable from the start is reported once")
    func never() {
        var link = NotifyLink()
        #expect(link.lost("a", stillListens: false) == .lost(message: "a"))
        #expect(link.lost("a", stillListens: false) == nil)
        #expect(link.sending() == nil && link.listening() == .connected)
    }
}
