import Testing
import Wire

@testable import ActionCable

@Suite struct SubscriptionTableTests {
    private let a = CableIdentifier(#"{"channel":"A"}"#)
    private let b = CableIdentifier(#"{"channel":"B"}"#)
    private let ale: [UInt8] = [1]

    /// A table in which `a` is confirmed with number 1.
    private var confirmed: SubscriptionTable {
        var table = SubscriptionTable(limit: 100)
        _ = table.receive(.subscribe(a))
        _ = table.next(of: a)
        table.confirm(1, of: a)
        return table
    }

    @Test("A message waits for its pending subscription, and is performed after the confirmation")
    func pending() {
        var table = SubscriptionTable(limit: 100)
        #expect(table.receive(.subscribe(a)) == .queued)
        #expect(table.next(of: a) == .begin(1))
        #expect(table.receive(.message(a, data: ale)) == .queued)
        #expect(table.receive(.subscribe(a)) == .repeated)
        #expect(table.next(of: a) == nil && table.isActive(1, of: a))
        table.confirm(1, of: a)
        #expect(table.next(of: a) == .perform(1, ale))
        #expect(table.next(of: a) == nil)
        #expect(table.receive(.subscribe(a)) == .confirmedAgain)
    }

    @Test("Commands without a subscription are ignored")
    func ignored() {
        var table = confirmed
        #expect(table.receive(.message(b, data: ale)) == .ignored(.notSubscribed))
        #expect(table.receive(.unsubscribe(b)) == .ignored(.notSubscribed))
        #expect(table.receive(.unsubscribe(a)) == .muted)
        #expect(table.next(of: a) == .end(1))
        #expect(table.receive(.message(a, data: ale)) == .ignored(.notSubscribed))
        #expect(table.count == 0)
    }

    @Test("A client that subscribes, sends and unsubscribes at once still has its message performed")
    func allAtOnce() {
        var table = SubscriptionTable(limit: 100)
        _ = table.receive(.subscribe(a))
        #expect(table.next(of: a) == .begin(1))
        _ = table.receive(.message(a, data: ale))
        #expect(table.receive(.unsubscribe(a)) == .muted)
        #expect(!table.isActive(1, of: a))
        #expect(table.receive(.message(a, data: ale)) == .ignored(.notSubscribed))
        #expect(table.receive(.subscribe(a)) == .queued)
        #expect(table.receive(.message(a, data: [2])) == .queued)
        table.confirm(1, of: a)
        #expect(table.next(of: a) == .perform(1, ale))
        #expect(table.next(of: a) == .end(1))
        #expect(table.next(of: a) == .begin(2))
        #expect(table.isActive(2, of: a) && !table.isActive(1, of: a))
        table.confirm(1, of: a)
        #expect(table.next(of: a) == nil)
        table.confirm(2, of: a)
        #expect(table.next(of: a) == .perform(2, [2]))
    }

    @Test("A rejection drops only the messages that waited for it")
    func rejected() {
        var table = SubscriptionTable(limit: 100)
        _ = table.receive(.subscribe(a))
        _ = table.next(of: a)
        _ = table.receive(.message(a, data: ale))
        _ = table.receive(.unsubscribe(a))
        _ = table.receive(.subscribe(a))
        _ = table.receive(.message(a, data: [2]))
        #expect(table.remove(1, of: a) == 1)
        #expect(table.next(of: a) == .begin(2))
        #expect(table.remove(2, of: a) == 1)
        #expect(table.next(of: a) == nil && table.count == 0)
    }

    @Test("Commands after a slow action wait only if they have the same identifier")
    func work() {
        var table = confirmed
        _ = table.receive(.message(a, data: ale))
        #expect(table.next(of: a) == .perform(1, ale))
        table.beginWork(1, of: a)
        #expect(table.receive(.message(a, data: [2])) == .queued)
        #expect(table.next(of: a) == nil)
        _ = table.receive(.subscribe(b))
        #expect(table.next(of: b) == .begin(2))
        table.endWork(1, of: a)
        #expect(table.next(of: a) == .perform(1, [2]))
    }

    @Test("A connection has at most 100 subscriptions, with identifiers of at most 1,024 bytes")
    func limits() {
        var table = SubscriptionTable(limit: 2)
        let long = CableIdentifier(String(repeating: "x", count: 1025))
        #expect(table.receive(.subscribe(long)) == .rejected)
        #expect(table.receive(.subscribe(CableIdentifier(String(repeating: "x", count: 1024)))) == .queued)
        #expect(table.receive(.subscribe(a)) == .queued)
        #expect(table.receive(.subscribe(b)) == .rejected)
        _ = table.next(of: a)
        #expect(table.remove(1, of: a) == 0)
        #expect(table.receive(.subscribe(b)) == .queued)
    }

    @Test("At most 64 commands wait, over all identifiers")
    func overflow() {
        var table = SubscriptionTable(limit: 100)
        _ = table.receive(.subscribe(a))
        _ = table.next(of: a)
        for _ in 0..<64 { #expect(table.receive(.message(a, data: ale)) == .queued) }
        #expect(table.receive(.message(a, data: ale)) == .busy)
        #expect(table.receive(.subscribe(b)) == .overflow)
        table.confirm(1, of: a)
        #expect(table.next(of: a) == .perform(1, ale))
        #expect(table.receive(.message(a, data: ale)) == .queued)
    }

    @Test("At most 64 KiB of commands wait, over all identifiers")
    func bytes() {
        var table = SubscriptionTable(limit: 100)
        for identifier in [a, b] {
            _ = table.receive(.subscribe(identifier))
            _ = table.next(of: identifier)
        }
        let half = [UInt8](repeating: 7, count: 32_768)
        for identifier in [a, b] { #expect(table.receive(.message(identifier, data: half)) == .queued) }
        #expect(table.receive(.message(a, data: [1])) == .busy)
        // Finished commands, and commands without effect, no longer count as waiting.
        table.confirm(1, of: a)
        #expect(table.next(of: a) == .perform(1, half))
        #expect(table.receive(.message(a, data: half)) == .queued)
        #expect(table.receive(.message(a, data: [1])) == .busy)
        #expect(table.remove(2, of: b) == 1)
        #expect(table.next(of: a) == .perform(1, half))
        for _ in 0..<2 { #expect(table.receive(.message(a, data: half)) == .queued) }
    }

    @Test("No command waits for ever, in any order of events")
    func random() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var table = SubscriptionTable(limit: 2)
            var begun: [(CableIdentifier, SubscriptionTable.Number)] = []
            func settle(_ identifier: CableIdentifier) {
                while let step = table.next(of: identifier) {
                    if case .begin(let number, _) = step { begun.append((identifier, number)) }
                }
            }
            for _ in 0..<100 {
                let identifier = [a, b, CableIdentifier("c")].randomElement(using: &generator) ?? a
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: _ = table.receive(.subscribe(identifier))
                case 1: _ = table.receive(.unsubscribe(identifier))
                case 2: _ = table.receive(.message(identifier, data: nil))
                case 3:
                    if let (identifier, number) = begun.popLast() { table.confirm(number, of: identifier) }
                default:
                    if let (identifier, number) = begun.popLast() { _ = table.remove(number, of: identifier) }
                }
                for identifier in [a, b, CableIdentifier("c")] { settle(identifier) }
                #expect(table.count <= 2)
            }
            while let (identifier, number) = begun.popLast() {
                table.confirm(number, of: identifier)
                settle(identifier)
            }
            for identifier in [a, b, CableIdentifier("c")] {
                _ = table.receive(.unsubscribe(identifier))
                settle(identifier)
            }
            #expect(table.count == 0 && table.waitingCount == 0)
        }
    }
}
