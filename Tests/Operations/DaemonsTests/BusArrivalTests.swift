import Rooms
import Testing

@testable import Daemons

@Suite struct BusArrivalTests {
    private let partners: Set<DaemonID> = [DaemonID(), DaemonID()]

    @Test("A daemon that needs no bus has arrived after its first check")
    func alone() {
        var arrival = BusArrival()
        #expect(!arrival.isOver(hasBus: false, partners: []))
        arrival.hasLooked = true
        #expect(arrival.isOver(hasBus: false, partners: []))
        // A daemon that has a bus waits until it is connected, even without partners.
        #expect(!arrival.isOver(hasBus: true, partners: []))
        arrival.isConnected = true
        #expect(arrival.isOver(hasBus: true, partners: []))
    }

    @Test("A daemon that shares a bus has arrived when all others have listed their rooms")
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
