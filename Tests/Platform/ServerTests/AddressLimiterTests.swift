import Basics
import Dispatch
import Server
import Synchronization
import Testing
import Wire

@Suite struct AddressLimiterTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// Returns a table with the limits that `set` changes. Everything else is unlimited.
    private func makeLimiter(capacity: Int = 65_536, _ set: (inout AddressAllowance) -> Void) -> AddressLimiter {
        var allowance = AddressAllowance()
        set(&allowance)
        return AddressLimiter(allowance, capacity: capacity)
    }

    private static func address(_ number: UInt32) -> IPAddress { IPAddress(ipv4: 0xCB00_7100 + number) }

    private func isOpened(_ result: Result<ConnectionPermit, AddressLimiter.Refusal>) -> Bool {
        if case .success = result { true } else { false }
    }

    @Test("Each address has a limited number of connections")
    func connections() throws {
        let limiter = makeLimiter { $0.maxConnections = 3 }
        let (one, other) = (Self.address(1), Self.address(2))
        var permits: [ConnectionPermit] = []
        for _ in 0..<3 { permits.append(try limiter.open(one, at: Self.start).get()) }
        #expect(throws: AddressLimiter.Refusal.tooManyConnections) { try limiter.open(one, at: Self.start).get() }
        let others = try (0..<3).map { _ in try limiter.open(other, at: Self.start).get() }
        permits.removeLast()
        permits.append(try limiter.open(one, at: Self.start).get())
        #expect(throws: AddressLimiter.Refusal.tooManyConnections) { try limiter.open(one, at: Self.start).get() }
        withExtendedLifetime((permits, others)) {}
    }

    @Test("The new connections of an address have a rate")
    func connectionRate() throws {
        let limiter = makeLimiter { $0.connections = RateLimit(perSecond: 10, burst: 20) }
        let address = Self.address(1)
        // The connections are closed at once.
        for _ in 0..<20 { #expect(isOpened(limiter.open(address, at: Self.start))) }
        for _ in 0..<5 {
            #expect(throws: AddressLimiter.Refusal.tooFast) { try limiter.open(address, at: Self.start).get() }
        }
        #expect(isOpened(limiter.open(Self.address(2), at: Self.start)))
        let later = Self.start + .milliseconds(500)
        #expect((0..<20).filter { _ in isOpened(limiter.open(address, at: later)) }.count == 5)
    }

    @Test(
        "Upgrades, requests and writes have separate rates per address",
        arguments: [LimitedAction.upgrade, .request, .write, .registration, .naming, .message])
    func paces(action: LimitedAction) throws {
        let limiter = makeLimiter {
            switch action {
            case .connection, .upgrade: $0.upgrades = RateLimit(perSecond: 50, burst: 50)
            case .request: $0.requests = RateLimit(perSecond: 50, burst: 50)
            case .write: $0.writes = RateLimit(perSecond: 50, burst: 50)
            case .registration: $0.registrations = RateLimit(perSecond: 50, burst: 50)
            case .naming: $0.names = RateLimit(perSecond: 50, burst: 50)
            case .message: $0.messages = RateLimit(perSecond: 50, burst: 50)
            }
        }
        let permits = try [1, 2].map { try limiter.open(Self.address($0), at: Self.start).get() }
        for permit in permits {
            #expect((0..<200).filter { _ in permit.admits(action, at: Self.start) }.count == 50)
            for other in LimitedAction.allCases where other != action {
                #expect(permit.admits(other, at: Self.start))
            }
        }
        // Another connection of the same address has the same rate.
        let later = Self.start + .milliseconds(100)
        let another = try limiter.open(Self.address(1), at: later).get()
        #expect((0..<200).filter { _ in another.admits(action, at: later) }.count == 5)
        #expect(!permits[0].admits(action, at: later))
    }

    @Test("An action that counts several times is admitted as a whole or refused")
    func several() throws {
        let limiter = makeLimiter { $0.messages = RateLimit(perSecond: 1, burst: 50) }
        let permit = try limiter.open(Self.address(1), at: Self.start).get()
        #expect((0..<3).filter { _ in permit.admits(.message, times: 20, at: Self.start) }.count == 2)
        #expect((0..<20).filter { _ in permit.admits(.message, at: Self.start) }.count == 10)
    }

    @Test("An action above the burst is admitted after the announced wait")
    func tooMuch() throws {
        let limiter = makeLimiter { $0.messages = RateLimit(perDay: 5) }
        let permit = try limiter.open(Self.address(1), at: Self.start).get()
        #expect(permit.admits(.message, times: 20, at: Self.start))
        #expect(!permit.admits(.message, at: Self.start))
        let later = Self.start + .seconds(3600)
        let wait = try #require(permit.wait(for: .message, times: 20, at: later))
        #expect(wait == 86_400)
        #expect(permit.admits(.message, times: 20, at: later + .seconds(wait)))
        // An address that has used a part of its burst can't send 20 at once.
        let other = try limiter.open(Self.address(2), at: Self.start).get()
        #expect(other.admits(.message, at: Self.start))
        #expect(!other.admits(.message, times: 20, at: Self.start))
    }

    @Test("A proxy's connection that passes to another client isn't a new one")
    func passedOn() throws {
        let limiter = makeLimiter { $0.connections = RateLimit(perSecond: 1, burst: 1) }
        #expect(isOpened(limiter.open(Self.address(1), at: Self.start)))
        for _ in 0..<10 { #expect(isOpened(limiter.open(Self.address(1), isNew: false, at: Self.start))) }
        #expect(!isOpened(limiter.open(Self.address(1), at: Self.start)))
    }

    private func subscriber(_ text: String) throws -> IPAddress { try #require(IPAddress(text)).subscriber }

    @Test("Networks around an IPv6 address have limits, too")
    func networks() throws {
        let limiter = makeLimiter {
            $0.maxConnections = 10
            $0.writes = RateLimit(perSecond: 1, burst: 100)
        }
        // Returns how many writes are admitted if each of these /64 networks tries 300, one after the other.
        func writes(_ networks: [String]) throws -> Int {
            try networks.map { network in
                let permit = try limiter.open(try subscriber(network), at: Self.start).get()
                return (0..<300).filter { _ in permit.admits(.write, at: Self.start) }.count
            }.reduce(0, +)
        }
        #expect(try writes(["2001:db8:1::1"]) == 100)
        #expect(try writes(["2001:db8:1::2"]) == 0)
        #expect(try writes((1..<20).map { "2001:db8:1:\(String($0, radix: 16))::" }) == 100)
        #expect(try writes((1..<256).map { "2001:db8:1:\(String($0, radix: 16))00::" }) == 200)
        // A neighbouring network and an IPv4 address have their own limits.
        #expect(try writes(["2001:db8:2::"]) == 100)
        #expect(try writes(["203.0.113.9"]) == 100)

        var permits: [ConnectionPermit] = []
        func open(_ networks: some Sequence<Int>) throws -> Int {
            var count = 0
            for network in networks {
                for _ in 0..<12 {
                    let address = try subscriber("2001:db8:7:\(String(network, radix: 16))::")
                    guard case .success(let permit) = limiter.open(address, at: Self.start) else { continue }
                    permits.append(permit)
                    count += 1
                }
            }
            return count
        }
        #expect(try open(0..<1) == 10)
        #expect(try open(1..<10) == 10)
        #expect(try open(stride(from: 0x100, to: 0x1000, by: 0x100)) == 20)
        // Refused connections aren't counted, so all places are free after the release.
        permits = []
        #expect(try open([0x2000, 0x2001, 0x3000, 0x3001]) == 40)
        withExtendedLifetime(permits) {}
    }

    @Test("A request refused by its own network's limit isn't charged to the neighbouring networks")
    func neighbours() throws {
        let limiter = makeLimiter { $0.requests = RateLimit(perSecond: 1, burst: 10) }
        let hasty = try limiter.open(try subscriber("2001:db8::"), at: Self.start).get()
        for _ in 0..<1000 { _ = hasty.admits(.request, at: Self.start) }
        let neighbour = try limiter.open(try subscriber("2001:db8:0:1::"), at: Self.start).get()
        #expect((0..<20).filter { _ in neighbour.admits(.request, at: Self.start) }.count == 10)
    }

    @Test("A full table drops the least recently active address")
    func bounded() throws {
        // The table has a single bucket.
        let limiter = makeLimiter(capacity: 8) {
            $0.maxConnections = 1
            $0.requests = RateLimit(perSecond: 1, burst: 1)
        }
        /// Returns whether a request of the address is admitted. Its connection is closed at once.
        func asks(_ number: UInt32, at now: MonotonicTime) throws -> Bool {
            try limiter.open(Self.address(number), at: now).get().admits(.request, at: now)
        }
        let held = try (0..<4).map { try limiter.open(Self.address($0), at: Self.start).get() }
        for number in UInt32(4)..<8 {
            let now = Self.start + .milliseconds(Int(number))
            #expect(try asks(number, at: now))
            #expect(try !asks(number, at: now))
        }
        // The ninth address replaces the fifth. When the fifth comes again, its count starts again, and it replaces the
        // sixth.
        let now = Self.start + .milliseconds(10)
        #expect(try asks(8, at: now))
        #expect(try !asks(7, at: now))
        #expect(try asks(4, at: now + .milliseconds(1)))
        #expect(try !asks(7, at: now))
        for number in UInt32(0)..<4 {
            #expect(throws: AddressLimiter.Refusal.tooManyConnections) {
                try limiter.open(Self.address(number), at: now).get()
            }
        }
        // If every entry has connections, a new address isn't counted and is admitted.
        let more = try (4..<8).map { try limiter.open(Self.address($0), at: now).get() }
        let uncounted = try (0..<2).map { _ in try limiter.open(Self.address(9), at: now).get() }
        #expect(uncounted.allSatisfy { $0.admits(.request, at: now) && $0.admits(.request, at: now) })
        #expect(throws: AddressLimiter.Refusal.tooManyConnections) { try limiter.open(Self.address(5), at: now).get() }
        withExtendedLifetime((held, more, uncounted)) {}
    }

    @Test("No address exceeds its limit, even with many threads")
    func threads() throws {
        let limit = 5
        // The capacity is small, so addresses are evicted constantly.
        let limiter = makeLimiter(capacity: 8) {
            $0.maxConnections = limit
            $0.requests = RateLimit(perSecond: 1000, burst: 10)
        }
        let peaks = Peaks()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var random = SystemRandomNumberGenerator()
            var held: [(UInt32, ConnectionPermit)] = []
            for _ in 0..<3000 {
                let number = UInt32.random(in: 0..<12, using: &random)
                if Bool.random(using: &random),
                    case .success(let permit) = limiter.open(Self.address(number), at: Self.start)
                {
                    _ = permit.admits(.request, at: Self.start)
                    held.append((number, permit))
                }
                if held.count > 3 { held.remove(at: Int.random(in: 0..<held.count, using: &random)) }
            }
            peaks.threads.add(held.count, ordering: .relaxed)
        }
        #expect(peaks.threads.load(ordering: .relaxed) > 0)
        // All connections are closed, so each address may have its maximum number again.
        for number in UInt32(0)..<12 {
            var permits: [ConnectionPermit] = []
            while permits.count < 2 * limit,
                case .success(let permit) = limiter.open(Self.address(number), at: Self.start)
            {
                permits.append(permit)
            }
            #expect(permits.count == limit)
        }
    }

    private final class Peaks: Sendable {
        let threads = Atomic<Int>(0)
    }
}
