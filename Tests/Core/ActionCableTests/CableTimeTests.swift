import Basics
import Domain
import Sockets
import Testing

@testable import Access
@testable import ActionCable

/// Timing, with a clock that the test sets.
@Suite struct CableTimeTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_123_000)

    // MARK: The pause after a confirmation

    @Test("Messages after a confirmation are delayed by 50 ms and stay in order")
    func pause() {
        var pause = ConfirmPause(confirmedAt: start)
        let (one, two) = (SharedBytes([1]), SharedBytes([2]))
        #expect(pause.send(one, times: 1, at: start) == .holdUntil(.milliseconds(50)))
        #expect(pause.send(one, times: 3, at: start + .milliseconds(10)) == .hold)
        #expect(pause.send(two, times: 1, at: start + .milliseconds(49)) == .hold)
        #expect(pause.timeLeft(at: start + .milliseconds(49)) == .milliseconds(1))
        #expect(pause.timeLeft(at: start + .milliseconds(50)) == nil)
        #expect(!pause.isEmpty)
        // The timer is late. A new frame still waits behind the held ones.
        #expect(pause.send(one, times: 1, at: start + .milliseconds(60)) == .hold)
        let held = pause.release()
        #expect(held.map(\.times) == [4, 1, 1])
        #expect(held[0].frame === one && held[1].frame === two && held[2].frame === one)
        #expect(pause.send(one, times: 1, at: start + .milliseconds(61)) == .send)
        #expect(pause.isEmpty && pause.release().isEmpty)
    }

    @Test("Nothing is held if no message arrives within the pause")
    func noPause() {
        var pause = ConfirmPause(confirmedAt: start)
        #expect(pause.send(SharedBytes([1]), times: 1, at: start + .milliseconds(50)) == .send)
        #expect(pause.send(SharedBytes([1]), times: 1, at: start + .milliseconds(50)) == .send)
        var later = ConfirmPause(confirmedAt: start)
        #expect(later.send(SharedBytes([1]), times: 1, at: start + .milliseconds(20)) == .holdUntil(.milliseconds(30)))
    }

    @Test("At most 1,024 different frames are held")
    func overflow() {
        var pause = ConfirmPause(confirmedAt: start)
        for _ in 0..<1024 { #expect(pause.send(SharedBytes([1]), times: 1, at: start) != .overflow) }
        #expect(pause.send(SharedBytes([1]), times: 1, at: start) == .overflow)
    }

    // MARK: Pings

    private final class PingedConnection {
        var place: PingWheel<PingedConnection>.Place?
        var times: [MonotonicTime] = []
    }

    @Test("One timer pings every connection every three seconds")
    func pings() throws {
        var wheel = PingWheel<PingedConnection>()
        #expect(wheel.delay(at: start) == nil)
        var members: [(PingedConnection, came: MonotonicTime)] = []
        var now = start
        var generator = SystemRandomNumberGenerator()
        let end = start + .seconds(40)
        var nextComing = start
        while now < end {
            if nextComing <= now, members.count < 50 {
                let member = PingedConnection()
                member.place = wheel.insert(member, at: now)
                members.append((member, now))
                nextComing = now + .milliseconds(Int.random(in: 1...400, using: &generator))
            }
            let delay = try #require(wheel.delay(at: now))
            #expect(delay <= .seconds(3))
            now = members.count < 50 ? min(now + delay, nextComing) : now + delay
            for member in wheel.takeDue(at: now) { member.times.append(now) }
        }
        for (member, came) in members {
            let first = try #require(member.times.first)
            #expect(first - came <= .seconds(3) && first - came > .milliseconds(2700))
            for (earlier, later) in zip(member.times, member.times.dropFirst()) {
                #expect(later - earlier == .seconds(3))
            }
            #expect(member.times.count >= Int((end - came) / .seconds(3)) - 1)
        }
    }

    @Test("Removing a connection doesn't change the pings of the others")
    func leaving() throws {
        var wheel = PingWheel<PingedConnection>()
        let members = (0..<5).map { _ in PingedConnection() }
        for member in members { member.place = wheel.insert(member, at: start) }
        for index in [1, 4, 0] {
            let place = try #require(members[index].place)
            wheel.remove(place)?.place = place
        }
        #expect(wheel.count == 2)
        let due = wheel.takeDue(at: start + .seconds(3))
        #expect(due.count == 2 && due.allSatisfy { $0 === members[2] || $0 === members[3] })
        for member in [members[2], members[3]] {
            let place = try #require(member.place)
            wheel.remove(place)?.place = place
        }
        #expect(wheel.count == 0 && wheel.delay(at: start) == nil)
    }

    @Test("After a long pause of the loop each connection is pinged once")
    func standstill() {
        var wheel = PingWheel<PingedConnection>()
        let member = PingedConnection()
        member.place = wheel.insert(member, at: start)
        #expect(wheel.takeDue(at: start + .seconds(30)).count == 1)
        #expect(wheel.takeDue(at: start + .seconds(30)).isEmpty)
    }

    // MARK: Rates

    @Test("All sockets of a device share a rate of 20 messages per second")
    func rates() throws {
        let rates = DeviceMessageRates(perSecond: 20, burst: 200)
        let (ada, bob) = (try DeviceID("ada"), try DeviceID("bob"))
        for _ in 0..<200 { #expect(rates.pays(ada, at: start)) }
        #expect(!rates.pays(ada, at: start))
        #expect(rates.pays(bob, at: start))
        for second in 1...3 {
            let now = start + .seconds(second)
            for _ in 0..<20 { #expect(rates.pays(ada, at: now)) }
            #expect(!rates.pays(ada, at: now))
        }
    }

    @Test("Only devices with a full allowance are removed")
    func forgetting() throws {
        let rates = DeviceMessageRates(perSecond: 20, burst: 2)
        let ada = try DeviceID("ada")
        #expect(rates.pays(ada, at: start) && rates.pays(ada, at: start) && !rates.pays(ada, at: start))
        for index in 0..<3000 { #expect(rates.pays(try DeviceID("device-\(index)"), at: start)) }
        #expect(!rates.pays(ada, at: start))
        for index in 0..<3000 { #expect(rates.pays(try DeviceID("other-\(index)"), at: start + .seconds(9))) }
        #expect(rates.pays(ada, at: start + .seconds(9)))
    }
}
