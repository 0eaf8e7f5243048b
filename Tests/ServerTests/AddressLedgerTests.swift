import Dispatch
import Server
import Sockets
import Synchronization
import Testing
import Wire

@Suite struct AddressLedgerTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static let any = RateLimit(perSecond: 0, burst: 0)

    private static func address(_ number: UInt32) -> IPAddress { IPAddress(ipv4: 0xCB00_7100 + number) }

    private func isOpened(_ result: Result<AddressLease, AddressLedger.Refusal>) -> Bool {
        if case .success = result { true } else { false }
    }

    @Test("An address has so many connections, until one ends; others have their own")
    func connections() throws {
        let ledger = AddressLedger(maxConnections: 3, connectionRate: Self.any, upgradeRate: Self.any)
        let (one, other) = (Self.address(1), Self.address(2))
        var leases: [AddressLease] = []
        for _ in 0..<3 { leases.append(try ledger.open(one, at: Self.start).get()) }
        #expect(throws: AddressLedger.Refusal.tooManyConnections) { try ledger.open(one, at: Self.start).get() }
        let others = try (0..<3).map { _ in try ledger.open(other, at: Self.start).get() }
        leases.removeLast()
        leases.append(try ledger.open(one, at: Self.start).get())
        #expect(throws: AddressLedger.Refusal.tooManyConnections) { try ledger.open(one, at: Self.start).get() }
        withExtendedLifetime((leases, others)) {}
    }

    @Test("An address makes new connections no faster than the rate; those refused are not counted")
    func connectionRate() throws {
        let ledger = AddressLedger(
            maxConnections: 1000, connectionRate: RateLimit(perSecond: 10, burst: 20), upgradeRate: Self.any)
        let address = Self.address(1)
        // None of them stays.
        for _ in 0..<20 { #expect(isOpened(ledger.open(address, at: Self.start))) }
        for _ in 0..<5 {
            #expect(throws: AddressLedger.Refusal.tooFast) { try ledger.open(address, at: Self.start).get() }
        }
        #expect(isOpened(ledger.open(Self.address(2), at: Self.start)))
        let later = Self.start + .milliseconds(500)
        #expect((0..<20).filter { _ in isOpened(ledger.open(address, at: later)) }.count == 5)
    }

    @Test("Attempts at a WebSocket have a rate of their own, by address")
    func upgrades() {
        let ledger = AddressLedger(
            maxConnections: 1, connectionRate: Self.any, upgradeRate: RateLimit(perSecond: 50, burst: 50))
        #expect((0..<200).filter { _ in ledger.admitsUpgrade(of: Self.address(1), at: Self.start) }.count == 50)
        #expect((0..<200).filter { _ in ledger.admitsUpgrade(of: Self.address(2), at: Self.start) }.count == 50)
        let later = Self.start + .milliseconds(100)
        #expect((0..<200).filter { _ in ledger.admitsUpgrade(of: Self.address(1), at: later) }.count == 5)
        #expect(isOpened(ledger.open(Self.address(1), at: later)))
    }

    @Test("A full table forgets who was there least lately, never who has connections")
    func bounded() throws {
        // One bucket.
        let ledger = AddressLedger(
            maxConnections: 1, connectionRate: Self.any, upgradeRate: RateLimit(perSecond: 1, burst: 1), capacity: 8)
        let held = try (0..<4).map { try ledger.open(Self.address($0), at: Self.start).get() }
        for number in UInt32(4)..<8 {
            let now = Self.start + .milliseconds(Int(number))
            #expect(ledger.admitsUpgrade(of: Self.address(number), at: now))
            #expect(!ledger.admitsUpgrade(of: Self.address(number), at: now))
        }
        // The ninth takes the fifth's place, which is new again when it comes back, and takes the sixth's.
        let now = Self.start + .milliseconds(10)
        #expect(ledger.admitsUpgrade(of: Self.address(8), at: now))
        #expect(!ledger.admitsUpgrade(of: Self.address(7), at: now))
        #expect(ledger.admitsUpgrade(of: Self.address(4), at: now + .milliseconds(1)))
        #expect(!ledger.admitsUpgrade(of: Self.address(7), at: now))
        for number in UInt32(0)..<4 {
            #expect(throws: AddressLedger.Refusal.tooManyConnections) {
                try ledger.open(Self.address(number), at: now).get()
            }
        }
        // With connections everywhere, a newcomer isn't counted, and is admitted.
        let more = try (4..<8).map { try ledger.open(Self.address($0), at: now).get() }
        let uncounted = try (0..<2).map { _ in try ledger.open(Self.address(9), at: now).get() }
        #expect(throws: AddressLedger.Refusal.tooManyConnections) { try ledger.open(Self.address(5), at: now).get() }
        withExtendedLifetime((held, more, uncounted)) {}
    }

    @Test("However many threads open and close, nobody has more than the limit, and no count is lost")
    func threads() throws {
        let limit = 5
        // Few slots, so that addresses are forgotten all the time.
        let ledger = AddressLedger(
            maxConnections: limit, connectionRate: Self.any, upgradeRate: RateLimit(perSecond: 1000, burst: 10),
            capacity: 8)
        let peaks = Peaks()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var random = SystemRandomNumberGenerator()
            var held: [(UInt32, AddressLease)] = []
            for _ in 0..<3000 {
                let number = UInt32.random(in: 0..<12, using: &random)
                if Bool.random(using: &random),
                    case .success(let lease) = ledger.open(Self.address(number), at: Self.start)
                {
                    held.append((number, lease))
                }
                _ = ledger.admitsUpgrade(of: Self.address(number), at: Self.start)
                if held.count > 3 { held.remove(at: Int.random(in: 0..<held.count, using: &random)) }
            }
            peaks.threads.add(held.count, ordering: .relaxed)
        }
        #expect(peaks.threads.load(ordering: .relaxed) > 0)
        // All are closed: each address has its whole number again.
        for number in UInt32(0)..<12 {
            var leases: [AddressLease] = []
            while leases.count < 2 * limit, case .success(let lease) = ledger.open(Self.address(number), at: Self.start)
            {
                leases.append(lease)
            }
            #expect(leases.count == limit)
        }
    }

    private final class Peaks: Sendable {
        let threads = Atomic<Int>(0)
    }
}
