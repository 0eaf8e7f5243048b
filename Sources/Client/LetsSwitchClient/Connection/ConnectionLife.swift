/// What becomes of a connection that is to stay: a value without a clock and without a socket.
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
        /// Ask whether the peer is there.
        case ping
        /// Send a close frame.
        case close(CloseCode)
        /// Let go of the connection, or of the attempt.
        case drop
        case tellClosed(CloseCode)
        case tellWaiting(Duration)
        /// Nothing follows; `nil` when all is well.
        case end(ClientError?)
    }

    /// How long an attempt may take.
    static let connectLimit = Duration.seconds(30)
    /// How long a peer may take to answer a close frame.
    static let closeLimit = Duration.seconds(5)

    private(set) var state = State.idle
    /// When ``timePassed(at:fraction:)`` is to be called.
    private(set) var deadline: Duration?
    /// When an open connection counts as lost, unless something comes.
    private var silentUntil = Duration.zero
    private let silence: Duration
    private let pings: Bool
    private let endsAtNormalClosure: Bool
    private var reconnecting: Reconnecting

    /// - Parameters:
    ///   - silence: How long nothing may come before the connection counts as lost.
    ///   - pings: Whether a ping asks after a peer of which half of the silence long nothing came: servers ask only after clients that
    ///     say nothing, so who speaks where all others are quiet would hear nothing. On a cable the server speaks by itself.
    ///   - endsAtNormalClosure: Whether a server that closes with 1000 means for good. On a cable it says so before, in words.
    init(_ policy: ReconnectPolicy, silence: Duration, pings: Bool = true, endsAtNormalClosure: Bool = true) {
        reconnecting = Reconnecting(policy)
        self.silence = silence
        self.pings = pings
        self.endsAtNormalClosure = endsAtNormalClosure
    }

    /// Somebody wants the connection.
    mutating func begin(at now: Duration) -> [Action] {
        guard state == .idle else { return [] }
        return connect(at: now)
    }

    mutating func opened(at now: Duration) {
        guard state == .connecting else { return }
        state = .open(since: now)
        heard(at: now)
    }

    /// Something came.
    mutating func heard(at now: Duration) {
        guard case .open = state else { return }
        silentUntil = now + silence
        deadline = pings ? now + silence / 2 : silentUntil
    }

    /// The connection has ended, or the attempt failed.
    mutating func ended(_ error: ClientError, at now: Duration, fraction: Double) -> [Action] {
        switch state {
        case .idle, .waiting, .ended: return []
        case .closing(let code):
            if case .closed(let answer, _) = error { return finish([.tellClosed(answer)], nil) }
            return finish([.tellClosed(code)], nil)
        case .connecting: return goOn([], error, openFor: nil, at: now, fraction)
        case .open(let since):
            var told: [Action] = []
            if case .closed(let code, _) = error { told = [.tellClosed(code)] }
            guard case .closed(.normal, let reason) = error else {
                return goOn(told, error, openFor: now - since, at: now, fraction)
            }
            if endsAtNormalClosure { return finish(told, nil) }
            return goOn(told, .closed(.goingAway, reason: reason), openFor: now - since, at: now, fraction)
        }
    }

    /// Nobody wants the connection any more.
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

    /// It can't go on, for a reason on this side.
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
        case .closing(let code): return finish([.tellClosed(code)], nil)
        }
    }

    private mutating func connect(at now: Duration) -> [Action] {
        state = .connecting
        deadline = now + Self.connectLimit
        return [.connect]
    }

    private mutating func goOn(
        _ told: [Action], _ error: ClientError, openFor: Duration?, at now: Duration, _ fraction: Double
    ) -> [Action] {
        guard let wait = reconnecting.wait(after: error, openFor: openFor, fraction: fraction) else {
            return finish(told, error)
        }
        state = .waiting
        deadline = now + wait
        return [.drop] + told + [.tellWaiting(wait)]
    }

    private mutating func finish(_ told: [Action], _ error: ClientError?) -> [Action] {
        state = .ended
        deadline = nil
        return [.drop] + told + [.end(error)]
    }
}
