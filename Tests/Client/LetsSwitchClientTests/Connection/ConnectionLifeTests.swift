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

    @Test("A lost connection is told, waited for, and made again")
    func again() {
        var life = Self.opened()
        #expect(
            life.ended(Self.lost, at: .seconds(2), fraction: 0.5)
                == [.drop, .tellClosed(.lost), .tellWaiting(.seconds(0.5))])
        #expect(life.deadline == .seconds(2.5))
        #expect(life.timePassed(at: .seconds(2.4), fraction: 0) == [])
        #expect(life.timePassed(at: .seconds(2.5), fraction: 0) == [.connect])
        #expect(
            life.ended(.unreachable(""), at: .seconds(3), fraction: 0.5) == [.drop, .tellWaiting(.seconds(1))])
    }

    @Test("Half of the silence asks for an answer, all of it counts as lost, and whatever comes breaks it")
    func silence() {
        var life = Self.opened()
        life.heard(at: .seconds(20))
        #expect(life.timePassed(at: .seconds(42), fraction: 0) == [])
        #expect(life.timePassed(at: .seconds(42.5), fraction: 0) == [.ping])
        #expect(life.deadline == .seconds(65))
        // Asked once.
        #expect(life.timePassed(at: .seconds(64), fraction: 0) == [])
        life.heard(at: .seconds(64))
        #expect(life.timePassed(at: .seconds(65), fraction: 0) == [])
        #expect(life.timePassed(at: .seconds(86.5), fraction: 0) == [.ping])
        #expect(
            life.timePassed(at: .seconds(109), fraction: 0) == [.drop, .tellClosed(.lost), .tellWaiting(.zero)])
    }

    @Test("A time that comes late asks for nothing any more")
    func lateSilence() {
        var life = Self.opened()
        #expect(
            life.timePassed(at: .seconds(46), fraction: 0) == [.drop, .tellClosed(.lost), .tellWaiting(.zero)])
    }

    @Test("Where the server speaks by itself, nothing is asked")
    func silenceWithoutPings() {
        var life = ConnectionLife(.default, silence: .seconds(6), pings: false)
        _ = life.begin(at: .zero)
        life.opened(at: .zero)
        #expect(life.deadline == .seconds(6))
        #expect(life.timePassed(at: .seconds(3), fraction: 0) == [])
        #expect(life.timePassed(at: .seconds(6), fraction: 0) == [.drop, .tellClosed(.lost), .tellWaiting(.zero)])
    }

    @Test("An attempt has its time")
    func attempt() {
        var life = ConnectionLife(.default, silence: .seconds(45))
        _ = life.begin(at: .zero)
        #expect(life.timePassed(at: ConnectionLife.connectLimit, fraction: 0) == [.drop, .tellWaiting(.zero)])
    }

    @Test("Where a normal end isn't meant for good, the connection is made again")
    func comesAgain() {
        var life = ConnectionLife(.default, silence: .seconds(45), endsAtNormalClosure: false)
        _ = life.begin(at: .zero)
        life.opened(at: .zero)
        let normal = ClientError.closed(.normal, reason: "")
        #expect(life.ended(normal, at: .zero, fraction: 0) == [.drop, .tellClosed(.normal), .tellWaiting(.zero)])
    }

    @Test("A normal end ends without an error, another with it")
    func ends() {
        var life = Self.opened()
        let normal = ClientError.closed(.normal, reason: "")
        #expect(life.ended(normal, at: .zero, fraction: 0) == [.drop, .tellClosed(.normal), .end(nil)])
        var other = Self.opened()
        let broken = ClientError.closed(.protocolError, reason: "x")
        #expect(other.ended(broken, at: .zero, fraction: 0) == [.drop, .tellClosed(.protocolError), .end(broken)])
        #expect(other.ended(Self.lost, at: .zero, fraction: 0) == [])
        #expect(other.cancel(with: .goingAway, at: .zero) == [])
        #expect(other.begin(at: .zero) == [])
    }

    @Test("Who cancels says so, and waits five seconds for the answer")
    func cancel() {
        var life = Self.opened()
        #expect(life.cancel(with: .goingAway, at: .seconds(3)) == [.close(.goingAway)])
        #expect(life.cancel(with: .goingAway, at: .seconds(4)) == [])
        var other = life
        #expect(life.timePassed(at: .seconds(8), fraction: 0) == [.drop, .tellClosed(.goingAway), .end(nil)])
        let answer = ClientError.closed(.normal, reason: "")
        #expect(other.ended(answer, at: .seconds(4), fraction: 0) == [.drop, .tellClosed(.normal), .end(nil)])
    }

    @Test("Where nothing is open, cancelling ends at once")
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
