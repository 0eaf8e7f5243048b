import Testing

@testable import LetsSwitchClient

@Suite struct CableTableTests {
    private let a: CableTable.Identifier = Array("a".utf8)
    private let b: CableTable.Identifier = Array("b".utf8)

    @Test(
        "Wanted subscriptions are sent in order until they are answered")
    func asking() {
        var table = CableTable()
        #expect(table.subscribe(b, at: .zero) == [])
        #expect(table.subscribe(a, at: .zero) == [])
        #expect(table.subscribe(a, at: .zero) == [])
        #expect(table.deadline == nil)
        #expect(table.welcomed(at: .seconds(1)) == [.subscribe(b), .subscribe(a)])
        #expect(table.deadline == .seconds(1.5))
        #expect(table.confirmed(b) == true)
        #expect(table.confirmed(b) == false)
        #expect(table.timePassed(at: .seconds(1.4)) == [])
        #expect(table.timePassed(at: .seconds(1.5)) == [.subscribe(a)])
        #expect(table.deadline == .seconds(2))
        #expect(table.confirmed(a) == true)
        #expect(table.deadline == nil)
        #expect(table.isConfirmed(a) && table.isConfirmed(b))
    }

    @Test("After a lost connection, all wanted subscriptions are sent again")
    func again() {
        var table = CableTable()
        _ = table.welcomed(at: .zero)
        let c = Array("c".utf8)
        for identifier in [a, b, c] { #expect(table.subscribe(identifier, at: .zero) == [.subscribe(identifier)]) }
        for identifier in [a, b] { #expect(table.confirmed(identifier) == true) }
        #expect(table.rejected(c) == true)
        #expect(table.unsubscribe(b) == [.unsubscribe(b)])
        // The server's answer about an unwanted subscription.
        #expect(table.confirmed(b) == false)
        #expect(table.rejected(b) == false)
        #expect(table.lost() == [a])
        #expect(table.lost() == [])
        #expect(table.timePassed(at: .seconds(10)) == [])
        #expect(table.unsubscribe(b) == [])
        #expect(table.welcomed(at: .seconds(20)) == [.subscribe(a)])
    }
}
