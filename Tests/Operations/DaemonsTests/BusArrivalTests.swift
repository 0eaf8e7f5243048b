import Rooms
import Testing

@testable import Daemons

@Suite struct BusArrivalTests {
    private let partners: Set<DaemonID> = [DaemonID(), DaemonID()]

    @Test("Who needs no bus has arrived once it has looked")
    func alone() {
        var arrival = BusArrival()
        #expect(!arrival.isOver(hasBus: false, partners: []))
        arrival.hasLooked = true
        #expect(arrival.isOver(hasBus: false, partners: []))
        // It has one all the same.
        #expect(!arrival.isOver(hasBus: true, partners: []))
        arrival.isConnected = true
        #expect(arrival.isOver(hasBus: true, partners: []))
    }

    @Test("Who shares a bus has arrived once all others have told their rooms")
    func introduced() {
        var arrival = BusArrival(hasLooked: true, isConnected: true)
        #expect(!arrival.isOver(hasBus: true, partners: partners))
        for (number, partner) in partners.enumerated() {
            arrival.introduced.insert(partner)
            #expect(arrival.isOver(hasBus: true, partners: partners) == (number == 1))
        }
        arrival.hasLooked = false
        #expect(!arrival.isOver(hasBus: true, partners: partners))
    }
}
