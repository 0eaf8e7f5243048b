import Testing

@testable import LetsSwitchClient

@Suite struct ConnectionLifeTests {
    private static let lost = ClientError.closed(.lost, reason: "")

    private static func opened() -> ConnectionLife {
        var life = ConnectionLife(.default, silence: .seconds(45))
        #expect(life.begin(at: .zero) == [.connect])
        #expect(life.begin(at: .zero) == [])
        life.opened(at: .seconds(1))
        #expect(life.state == .open(since: .seconds(1)))
        return life
    }

    @Test("A lost connection is reported and, after a wait, restored")
    func again() {
        var life = Self.opened()
        #expect(
            life.ended(Self.lost, at: .seconds(2), fraction: 0.5)
                == [.drop, .reportClosed(.lost), .reportWaiting(.seconds(0.5))])
        #expect(life.deadline == .seconds(2.5))
        #expect(life.timePassed(at: .seconds(2.4), fraction: 0) == [])
        #expect(life.timePassed(at: .seconds(2.5), fraction: 0) == [.connect])
        #expect(
            life.ended(.unreachable(""), at: .seconds(3), fraction: 0.5) == [.drop, .reportWaiting(.seconds(1))])
    }

    @Test("Silence triggers a ping and then ends the connection, unless bytes arrive")
    func silence() {
        var life = Self.opened()
        life.received(at: .seconds(20))
        #expect(life.timePassed(at: .seconds(42), fraction: 0) == [])
        #expect(life.timePassed(at: .seconds(42.5), fraction: 0) == [.ping])
        #expect(life.deadline == .seconds(65))
        // Only one ping is sent.
        #expect(life.timePassed(at: .seconds(64), fraction: 0) == [])
        life.received(at: .seconds(64))
        #expect(life.timePassed(at: .seconds(65), fraction: 0) == [])
        #expect(life.timePassed(at: .seconds(86.5), fraction: 0) == [.ping])
        #expect(
            life.timePassed(at: .seconds(109), fraction: 0) == [.drop, .reportClosed(.lost), .reportWaiting(.zero)])
    }

    @Test("A timer that fires after the silence limit ends the connection without a ping")
    func lateSilence() {
        var life = Self.opened()
        #expect(
            life.timePassed(at: .seconds(46), fraction: 0) == [.drop, .reportClosed(.lost), .reportWaiting(.zero)])
    }

    @Test("Without pings, only the silence limit applies")
    func silenceWithoutPings() {
        var life = ConnectionLife(.default, silence: .seconds(6), pings: false)
        _ = life.begin(at: .zero)
        life.opened(at: .zero)
        #expect(life.deadline == .seconds(6))
        #expect(life.timePassed(at: .seconds(3), fraction: 0) == [])
        #expect(life.timePassed(at: .seconds(6), fraction: 0) == [.drop, .reportClosed(.lost), .reportWaiting(.zero)])
    }

    @Test("An attempt to connect has a time limit")
    func attempt() {
        var life = ConnectionLife(.default, silence: .seconds(45))
        _ = life.begin(at: .zero)
        #expect(life.timePassed(at: ConnectionLife.connectLimit, fraction: 0) == [.drop, .reportWaiting(.zero)])
    }

    @Test("A connection that doesn't end at a normal closure is restored")
    func comesAgain() {
        var life = ConnectionLife(.default, silence: .seconds(45), endsAtNormalClosure: false)
        _ = life.begin(at: .zero)
        life.opened(at: .zero)
        let normal = ClientError.closed(.normal, reason: "")
        #expect(life.ended(normal, at: .zero, fraction: 0) == [.drop, .reportClosed(.normal), .reportWaiting(.zero)])
    }

    @Test("A normal closure ends without an error, and any other permanent closure with one")
    func ends() {
        var life = Self.opened()
        let normal = ClientError.closed(.normal, reason: "")
        #expect(life.ended(normal, at: .zero, fraction: 0) == [.drop, .reportClosed(.normal), .end(nil)])
        var other = Self.opened()
        let broken = ClientError.closed(.protocolError, reason: "x")
        #expect(other.ended(broken, at: .zero, fraction: 0) == [.drop, .reportClosed(.protocolError), .end(broken)])
        #expect(other.ended(Self.lost, at: .zero, fraction: 0) == [])
        #expect(other.cancel(with: .goingAway, at: .zero) == [])
        #expect(other.begin(at: .zero) == [])
    }

    @Test("Cancelling sends a close frame and waits five seconds for the answer")
    func cancel() {
        var life = Self.opened()
        #expect(life.cancel(with: .goingAway, at: .seconds(3)) == [.close(.goingAway)])
        #expect(life.cancel(with: .goingAway, at: .seconds(4)) == [])
        var other = life
        #expect(life.timePassed(at: .seconds(8), fraction: 0) == [.drop, .reportClosed(.goingAway), .end(nil)])
        let answer = ClientError.closed(.normal, reason: "")
        #expect(other.ended(answer, at: .seconds(4), fraction: 0) == [.drop, .reportClosed(.normal), .end(nil)])
    }

    @Test("Cancelling without an open connection ends at once")
    func cancelEarly() {
        var idle = ConnectionLife(.default, silence: .seconds(45))
        #expect(idle.cancel(with: .goingAway, at: .zero) == [.drop, .end(nil)])
        var connecting = ConnectionLife(.default, silence: .seconds(45))
        _ = connecting.begin(at: .zero)
        #expect(connecting.cancel(with: .goingAway, at: .zero) == [.drop, .end(nil)])
        connecting.opened(at: .zero)
        #expect(connecting.state == .ended)
    }
}
