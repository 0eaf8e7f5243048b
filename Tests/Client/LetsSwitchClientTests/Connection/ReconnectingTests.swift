import Testing

@testable import LetsSwitchClient

@Suite struct ReconnectingTests {
    private static let lost = ClientError.closed(.lost, reason: "")

    private static func refused(_ status: Int, _ code: String? = nil, after: Duration? = nil) -> ClientError {
        .refused(ServerRefusal(status: status, code: code, retryAfter: after))
    }

    @Test("The wait is a fraction of a bound that doubles up to half a minute")
    func doubling() {
        for fraction in [0, 0.25, 0.999] {
            var reconnecting = Reconnecting(.default)
            let waits = (0..<80).map { _ in reconnecting.wait(after: Self.lost, openFor: nil, fraction: fraction) }
            for (wait, bound) in zip(waits, [1, 2, 4, 8, 16] + Array(repeating: 30, count: 75)) {
                #expect(wait == .seconds(bound) * fraction)
            }
        }
    }

    @Test("The waits restart after a connection of ten seconds")
    func steady() {
        var reconnecting = Reconnecting(.default)
        for _ in 0..<3 { _ = reconnecting.wait(after: Self.lost, openFor: .seconds(9.999), fraction: 1) }
        #expect(reconnecting.wait(after: Self.lost, openFor: .seconds(10), fraction: 1) == .seconds(1))
        #expect(reconnecting.wait(after: Self.lost, openFor: .seconds(9.999), fraction: 1) == .seconds(2))
    }

    @Test(
        "The client connects again only after temporary close codes",
        arguments: Array(UInt16(1000)...1015) + [3000, 4999])
    func codes(code: UInt16) {
        var reconnecting = Reconnecting(.default)
        let error = ClientError.closed(CloseCode(rawValue: code), reason: "")
        let comesAgain = [1001, 1006, 1011, 1012, 1013].contains(code)
        #expect((reconnecting.wait(after: error, openFor: .seconds(1), fraction: 0) != nil) == comesAgain)
    }

    @Test(
        "The client waits for Retry-After and connects again only after temporary refusals",
        arguments: [400, 401, 403, 404, 410, 429, 500, 502, 503])
    func refusals(status: Int) {
        var reconnecting = Reconnecting(.default)
        let wait = reconnecting.wait(
            after: Self.refused(status, "other", after: .seconds(7)), openFor: nil, fraction: 0.5)
        #expect(wait == ([429, 503].contains(status) ? .seconds(7) : nil))
        #expect(reconnecting.wait(after: Self.refused(429), openFor: nil, fraction: 0.5) != nil)
    }

    @Test("The client waits for a room that isn't open yet")
    func roomNotOpen() {
        var reconnecting = Reconnecting(.default)
        let error = Self.refused(403, "room_not_open", after: .seconds(3600))
        #expect(reconnecting.wait(after: error, openFor: nil, fraction: 0) == .seconds(3600))
        #expect(reconnecting.wait(after: Self.refused(403, "origin_not_allowed"), openFor: nil, fraction: 0) == nil)
        // The refusal from a transport that drops the body.
        let bodiless = Self.refused(403, after: .seconds(5))
        #expect(reconnecting.wait(after: bodiless, openFor: nil, fraction: 0) == .seconds(5))
        #expect(reconnecting.wait(after: Self.refused(403), openFor: nil, fraction: 0) == nil)
    }

    @Test("The client enters a room when it opens, after a wait of at least a second")
    func roomOpens() {
        var reconnecting = Reconnecting(.default)
        for _ in 0..<10 { _ = reconnecting.wait(after: Self.lost, openFor: nil, fraction: 0.9) }
        let error = Self.refused(403, "room_not_open", after: .seconds(3))
        #expect(reconnecting.wait(after: error, openFor: nil, fraction: 0.9) == .seconds(3))
        let hasty = Self.refused(403, "room_not_open", after: .zero)
        #expect(reconnecting.wait(after: hasty, openFor: nil, fraction: 0) == .seconds(1))
        // For other refusals it is the minimum.
        let busy = Self.refused(503, after: .seconds(80_000))
        #expect(reconnecting.wait(after: busy, openFor: nil, fraction: 0.9) == .seconds(80_000))
        #expect(
            reconnecting.wait(after: Self.refused(429, after: .seconds(3)), openFor: nil, fraction: 0.9) == .seconds(27)
        )
    }

    @Test("A permanent error ends the attempts")
    func endings() {
        for error: ClientError in [.untrusted(""), .garbled(""), .sentAway(""), .bufferFull, .cancelled] {
            var reconnecting = Reconnecting(.default)
            #expect(reconnecting.wait(after: error, openFor: nil, fraction: 0) == nil)
        }
        var reconnecting = Reconnecting(.default)
        #expect(reconnecting.wait(after: .unreachable(""), openFor: nil, fraction: 0) == .zero)
    }

    @Test("A policy can limit the number of attempts")
    func attempts() {
        var reconnecting = Reconnecting(ReconnectPolicy(attempts: 2))
        let waits = (0..<3).map { _ in reconnecting.wait(after: Self.lost, openFor: nil, fraction: 0) }
        #expect(waits == [.zero, .zero, nil])
        var never = Reconnecting(.never)
        #expect(never.wait(after: Self.lost, openFor: .seconds(60), fraction: 0) == nil)
    }
}
