/// The states of a connection that is opened again after it is lost. A value without a clock and without a socket.
///
/// ```
/// idle ──begin──► connecting ──opened──► open ──ended, silent──► waiting ──time──► connecting
///                     └──ended──► waiting, or ended                 (or ended)
/// any ──cancel──► closing (when open) ──closed, or 5 s──► ended
/// ```
struct ConnectionLife: Sendable {
    enum State: Sendable, Hashable {
        case idle, connecting
        case open(since: Duration)
        case waiting
        case closing(CloseCode)
        case ended
    }

    enum Action: Sendable, Hashable {
        case connect
        /// Sends a ping to check the peer.
        case ping
        /// Sends a close frame.
        case close(CloseCode)
        /// Drops the connection, or the attempt to connect.
        case drop
        case reportClosed(CloseCode)
        case reportWaiting(Duration)
        /// Ends the session, with an error if there is one.
        case end(ClientError?)
    }

    /// The time limit of an attempt to connect.
    static let connectLimit = Duration.seconds(30)
    /// The time limit for the peer's answer to a close frame.
    static let closeLimit = Duration.seconds(5)

    private(set) var state = State.idle
    /// The time at which to call ``timePassed(at:fraction:)`` next.
    private(set) var deadline: Duration?
    /// The time at which an open connection counts as lost, unless bytes arrive before.
    private var silentUntil = Duration.zero
    private let silence: Duration
    private let pings: Bool
    private let endsAtNormalClosure: Bool
    private var reconnecting: Reconnecting

    /// - Parameters:
    ///   - silence: The time without received bytes after which the connection counts as lost.
    ///   - pings: Whether to send a ping after half of the silence. The server pings only clients that send nothing. In
    ///     a quiet room, a client that sends would therefore receive nothing. Action Cable doesn't need these pings,
    ///     because its server always sends pings.
    ///   - endsAtNormalClosure: Whether close code 1000 ends the session. An Action Cable server sends a disconnect
    ///     message instead.
    init(_ policy: ReconnectPolicy, silence: Duration, pings: Bool = true, endsAtNormalClosure: Bool = true) {
        reconnecting = Reconnecting(policy)
        self.silence = silence
        self.pings = pings
        self.endsAtNormalClosure = endsAtNormalClosure
    }

    /// Records that a reader or sender needs the connection.
    mutating func begin(at now: Duration) -> [Action] {
        guard state == .idle else { return [] }
        return connect(at: now)
    }

    mutating func opened(at now: Duration) {
        guard state == .connecting else { return }
        state = .open(since: now)
        received(at: now)
    }

    /// Records that bytes were received.
    mutating func received(at now: Duration) {
        guard case .open = state else { return }
        silentUntil = now + silence
        deadline = pings ? now + silence / 2 : silentUntil
    }

    /// Records that the connection has ended or that the attempt to connect failed.
    mutating func ended(_ error: ClientError, at now: Duration, fraction: Double) -> [Action] {
        switch state {
        case .idle, .waiting, .ended: return []
        case .closing(let code):
            if case .closed(let answer, _) = error { return finish([.reportClosed(answer)], nil) }
            return finish([.reportClosed(code)], nil)
        case .connecting: return retryOrFinish([], error, openFor: nil, at: now, fraction)
        case .open(let since):
            var reports: [Action] = []
            if case .closed(let code, _) = error { reports = [.reportClosed(code)] }
            guard case .closed(.normal, let reason) = error else {
                return retryOrFinish(reports, error, openFor: now - since, at: now, fraction)
            }
            if endsAtNormalClosure { return finish(reports, nil) }
            return retryOrFinish(reports, .closed(.goingAway, reason: reason), openFor: now - since, at: now, fraction)
        }
    }

    /// Closes the connection, because it isn't needed any more.
    mutating func cancel(with code: CloseCode, at now: Duration) -> [Action] {
        switch state {
        case .closing, .ended: return []
        case .idle, .connecting, .waiting: return finish([], nil)
        case .open:
            state = .closing(code)
            deadline = now + Self.closeLimit
            return [.close(code)]
        }
    }

    /// Ends the session because of an error on this side.
    mutating func fail(_ error: ClientError) -> [Action] {
        guard state != .ended else { return [] }
        return finish([], error)
    }

    mutating func timePassed(at now: Duration, fraction: Double) -> [Action] {
        guard let due = deadline, due <= now else { return [] }
        switch state {
        case .idle, .ended: return []
        case .connecting: return ended(.unreachable("no answer in time"), at: now, fraction: fraction)
        case .open where now < silentUntil:
            deadline = silentUntil
            return [.ping]
        case .open: return ended(.closed(.lost, reason: "silence"), at: now, fraction: fraction)
        case .waiting: return connect(at: now)
        case .closing(let code): return finish([.reportClosed(code)], nil)
        }
    }

    private mutating func connect(at now: Duration) -> [Action] {
        state = .connecting
        deadline = now + Self.connectLimit
        return [.connect]
    }

    private mutating func retryOrFinish(
        _ reports: [Action], _ error: ClientError, openFor: Duration?, at now: Duration, _ fraction: Double
    ) -> [Action] {
        guard let wait = reconnecting.wait(after: error, openFor: openFor, fraction: fraction) else {
            return finish(reports, error)
        }
        state = .waiting
        deadline = now + wait
        return [.drop] + reports + [.reportWaiting(wait)]
    }

    private mutating func finish(_ reports: [Action], _ error: ClientError?) -> [Action] {
        state = .ended
        deadline = nil
        return [.drop] + reports + [.end(error)]
    }
}
