import Rooms
import Testing

@testable import Daemons

@Suite struct NotifyLinkTests {
    @Test("Connected is said when both sides stand, lost once, whatever else fails")
    func life() {
        var link = NotifyLink()
        #expect(link.listening() == nil && !link.isUp)
        #expect(link.sending() == .connected && link.isUp)
        #expect(link.listening() == nil && link.sending() == nil)
        #expect(link.lost("a", stillListens: true) == .lost(message: "a"))
        #expect(link.lost("b", stillListens: false) == nil && !link.isUp)
        #expect(link.sending() == nil)
        #expect(link.listening() == .connected)
        // The listener's loss says nothing good of the sender.
        #expect(link.lost("c", stillListens: false) == .lost(message: "c"))
        #expect(link.listening() == nil && link.sending() == .connected)
    }

    @Test("A database that isn't there from the start is said, too, and once")
    func never() {
        var link = NotifyLink()
        #expect(link.lost("a", stillListens: false) == .lost(message: "a"))
        #expect(link.lost("a", stillListens: false) == nil)
        #expect(link.sending() == nil && link.listening() == .connected)
    }
}
