/// A connection that is opened again after it is lost, over one ``Link`` after another. The session performs the
/// actions of a ``ConnectionLife``, which makes all decisions.
///
/// The session connects for the first reader or sender.
actor LinkSession {
    enum Event: Sendable {
        case opened
        case received(LinkEvent)
        case waiting(Duration)
        case closed(CloseCode)
    }

    /// Opens a link. The argument is the id of the last received event.
    typealias Connect = @Sendable (_ lastEventID: String?) async throws(ClientError) -> any Link

    /// The maximum number of sends that wait for a connection, and of pings that wait for their answers.
    private static let maxWaiting = 1024

    private let connect: Connect
    let time: ClientTime
    private let silence: Duration
    private let holdsBack: Bool
    private var life: ConnectionLife
    private var buffer: EventBuffer<Event>
    private var lastEventID: String?

    private var link: (any Link)?
    private var linkTask: Task<Void, Never>?
    /// The link's number. Events of earlier links are ignored.
    private var generation = 0
    private var timer: (due: Duration, task: Task<Void, Never>)?
    /// The continuation of the link's task while reading is paused.
    private var pause: CheckedContinuation<Void, Never>?
    /// Whether reading from the link is paused.
    var isPaused: Bool { pause != nil }

    private var readers: [Waiter<Event?>] = []
    private var openWaiters: [Waiter<OpenLink>] = []
    private var pongWaiters: [Waiter<Void>] = []
    private var endWaiters: [CheckedContinuation<Void, Never>] = []
    private var lastWaiter: UInt64 = 0

    /// A link and its number.
    private struct OpenLink: Sendable {
        let link: any Link
        let generation: Int
    }

    private struct Waiter<Value: Sendable> {
        let id: UInt64
        let continuation: CheckedContinuation<Value, any Error>
    }

    /// - Parameter holdsBack: Whether to stop reading from the link while the buffer is half full. This suits clients
    ///   that only answer the messages that they read, and that lose nothing if the server closes the connection of a
    ///   slow reader.
    init(
        _ policy: ReconnectPolicy, silence: Duration, pings: Bool = true, endsAtNormalClosure: Bool = true,
        holdsBack: Bool = false, capacity: Int = EventBuffer<Event>.standardCapacity, time: ClientTime = .system,
        connect: @escaping Connect
    ) {
        life = ConnectionLife(policy, silence: silence, pings: pings, endsAtNormalClosure: endsAtNormalClosure)
        buffer = EventBuffer(capacity: capacity)
        self.time = time
        self.silence = silence
        self.holdsBack = holdsBack
        self.connect = connect
    }

    // MARK: Reading

    /// Returns the next event, or `nil` at the end. Cancelling the reading task cancels the session.
    func next() async throws -> Event? {
        begin()
        if let next = buffer.next() {
            if buffer.count <= buffer.capacity / 4 { readOn() }
            return try next.get()
        }
        let id = nextWaiter()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { readers.append(Waiter(id: id, continuation: $0)) }
        } onCancel: {
            Task { await self.cancel(with: .goingAway) }
        }
    }

    /// Connects, unless the session is connected or connecting.
    func begin() {
        perform(life.begin(at: time.now()))
    }

    // MARK: Sending

    /// Sends a frame. Without a connection, the frame waits for the next one.
    ///
    /// - Parameter waits: `false` for a frame that makes sense only on the present connection. Such a frame fails if
    ///   there is no connection.
    func send(_ frame: LinkFrame, waits: Bool = true) async throws {
        guard waits || link != nil else { throw ClientError.closed(.lost, reason: "") }
        let open = try await openLink()
        do throws(ClientError) {
            try await open.link.send(frame)
        } catch {
            // The connection may have been dropped while this frame was being sent.
            let isLost = error == .cancelled && !Task.isCancelled && life.state != .ended
            throw isLost ? ClientError.closed(.lost, reason: "") : error
        }
    }

    /// Returns the round-trip time of a ping on the present connection.
    func ping() async throws -> Duration {
        let open = try await openLink()
        guard pongWaiters.count < Self.maxWaiting else { throw ClientError.bufferFull }
        let id = nextWaiter()
        let start = time.now()
        let limit = limitPing(id, from: start)
        defer { limit.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard open.generation == generation, link != nil else {
                    return continuation.resume(throwing: ClientError.closed(.lost, reason: ""))
                }
                // The waiter is added before the ping is sent, because the answer may arrive before the send returns.
                pongWaiters.append(Waiter(id: id, continuation: continuation))
                Task {
                    do throws(ClientError) {
                        try await open.link.send(.ping(Self.bytes(of: id)))
                    } catch {
                        self.giveUp(id, error)
                    }
                }
            }
        } onCancel: {
            Task { await self.giveUp(id, CancellationError()) }
        }
        return time.now() - start
    }

    /// Limits the wait for a pong, because a server may send messages but not answer pings.
    private func limitPing(_ id: UInt64, from start: Duration) -> Task<Void, Never> {
        let (time, due) = (time, start + silence)
        return Task { [weak self] in
            guard (try? await time.sleep(due)) != nil else { return }
            await self?.giveUp(id, ClientError.unreachable("no answer to a ping"))
        }
    }

    private func openLink() async throws -> OpenLink {
        begin()
        if let link, case .open = life.state { return OpenLink(link: link, generation: generation) }
        if case .ended = life.state { throw ClientError.cancelled }
        if case .closing = life.state { throw ClientError.cancelled }
        guard openWaiters.count < Self.maxWaiting else { throw ClientError.bufferFull }
        let id = nextWaiter()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { openWaiters.append(Waiter(id: id, continuation: $0)) }
        } onCancel: {
            Task { await self.giveUp(id, CancellationError()) }
        }
    }

    private func giveUp(_ id: UInt64, _ error: any Error) {
        if let index = openWaiters.firstIndex(where: { $0.id == id }) {
            openWaiters.remove(at: index).continuation.resume(throwing: error)
        }
        if let index = pongWaiters.firstIndex(where: { $0.id == id }) {
            pongWaiters.remove(at: index).continuation.resume(throwing: error)
        }
    }

    private func nextWaiter() -> UInt64 {
        lastWaiter += 1
        return lastWaiter
    }

    private static func bytes(of id: UInt64) -> [UInt8] {
        withUnsafeBytes(of: id.bigEndian) { Array($0) }
    }

    // MARK: Ending

    /// Closes the connection, and returns when the session has ended.
    func cancel(with code: CloseCode) async {
        perform(life.cancel(with: code, at: time.now()))
        guard life.state != .ended else { return }
        await withCheckedContinuation { endWaiters.append($0) }
    }

    /// Ends the session, because the server sent an invalid message or refuses this client permanently.
    func fail(_ error: ClientError) {
        perform(life.fail(error))
    }

    /// Opens a new connection, because the server asks for it. The close code of the present connection doesn't matter.
    func comeAgain() {
        guard case .open = life.state else { return }
        perform(life.ended(.closed(.goingAway, reason: ""), at: time.now(), fraction: time.fraction()))
    }

    // MARK: Driving

    private func perform(_ actions: [ConnectionLife.Action]) {
        for action in actions {
            switch action {
            case .connect: beginLink()
            case .ping:
                // No caller waits for the pong: any received bytes show that the server is alive.
                if let link { Task { try? await link.send(.ping([])) } }
            case .close(let code):
                if let link { Task { try? await link.send(.close(code)) } }
                readOn()
            case .drop: dropLink()
            case .reportClosed(let code): deliver(.closed(code), isLast: life.state == .ended)
            case .reportWaiting(let wait): deliver(.waiting(wait))
            case .end(let error): finish(error)
            }
        }
        setTimer()
    }

    private func beginLink() {
        generation += 1
        let generation = generation
        let (connect, lastEventID) = (connect, lastEventID)
        linkTask = Task {
            do throws(ClientError) {
                let link = try await connect(lastEventID)
                guard self.opened(link, generation) else { return link.drop() }
                while true {
                    await self.holdBack(generation)
                    let event = try await link.receive()
                    guard self.received(event, generation) else { return }
                }
            } catch {
                self.linkEnded(error, generation)
            }
        }
    }

    /// Returns when the buffer has room for more events, or when the link was replaced.
    private func holdBack(_ generation: Int) async {
        guard holdsBack, generation == self.generation, buffer.count >= buffer.capacity / 2,
            case .open = life.state
        else { return }
        await withCheckedContinuation { pause = $0 }
    }

    /// Resumes reading. The pause doesn't count as silence of the server.
    private func readOn() {
        guard let pause else { return }
        self.pause = nil
        life.received(at: time.now())
        pause.resume()
    }

    private func dropLink() {
        generation += 1
        readOn()
        linkTask?.cancel()
        linkTask = nil
        link?.drop()
        link = nil
        let lost = pongWaiters
        pongWaiters = []
        for waiter in lost { waiter.continuation.resume(throwing: ClientError.closed(.lost, reason: "")) }
    }

    private func opened(_ link: any Link, _ generation: Int) -> Bool {
        guard generation == self.generation else { return false }
        self.link = link
        life.opened(at: time.now())
        deliver(.opened)
        setTimer()
        let waiting = openWaiters
        openWaiters = []
        for waiter in waiting {
            waiter.continuation.resume(returning: OpenLink(link: link, generation: generation))
        }
        return true
    }

    private func received(_ event: LinkEvent, _ generation: Int) -> Bool {
        guard generation == self.generation else { return false }
        life.received(at: time.now())
        // While the connection closes, all messages before the close frame are ignored, so they can't fill the buffer.
        if case .closing = life.state { return true }
        switch event {
        case .alive: break
        case .pong(let bytes):
            if let index = pongWaiters.firstIndex(where: { Self.bytes(of: $0.id) == bytes }) {
                pongWaiters.remove(at: index).continuation.resume()
            }
        case .event(_, _, let id):
            if let id { lastEventID = id }
            deliver(.received(event))
        case .message: deliver(.received(event))
        }
        return generation == self.generation
    }

    private func linkEnded(_ error: ClientError, _ generation: Int) {
        guard generation == self.generation else { return }
        perform(life.ended(error, at: time.now(), fraction: time.fraction()))
    }

    private func deliver(_ event: Event, isLast: Bool = false) {
        if !readers.isEmpty {
            readers.removeFirst().continuation.resume(returning: event)
        } else if !buffer.append(event, isLast: isLast) {
            perform(life.fail(.bufferFull))
        }
    }

    private func finish(_ error: ClientError?) {
        buffer.finish(error)
        timer?.task.cancel()
        timer = nil
        while !readers.isEmpty, let next = buffer.next() {
            readers.removeFirst().continuation.resume(with: next.mapError { $0 })
        }
        let waiting = openWaiters
        openWaiters = []
        for waiter in waiting { waiter.continuation.resume(throwing: error ?? .cancelled) }
        let ending = endWaiters
        endWaiters = []
        for waiter in ending { waiter.resume() }
    }

    /// Sets a timer for the next deadline. If a timer is already set for an earlier time, it is kept: most deadlines
    /// move with every message.
    private func setTimer() {
        guard let due = life.deadline else { return }
        if let timer, timer.due <= due { return }
        timer?.task.cancel()
        let time = time
        let task = Task {
            guard (try? await time.sleep(due)) != nil else { return }
            self.timerFired(due)
        }
        timer = (due, task)
    }

    private func timerFired(_ due: Duration) {
        guard timer?.due == due else { return }
        timer = nil
        if isPaused { life.received(at: time.now()) }
        perform(life.timePassed(at: time.now(), fraction: time.fraction()))
    }
}
