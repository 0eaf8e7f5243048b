/// A client of Action Cable: many channels over one connection to `/cable` of this server, or to a Rails server.
///
/// The client connects for the first subscription. After a lost connection it connects again and renews all
/// subscriptions. The connection counts as lost if the server sends nothing for six seconds.
///
/// ```swift
/// let cable = CableClient(server)
/// let room = await cable.subscribe("RoomChannel", ["id": roomID.uuidString])
/// for try await case .message(let message) in room.events { print(message.type ?? "") }
/// ```
public actor CableClient {
    /// The maximum number of actions that wait until they are sent.
    private static let maxWaiting = 1024

    private struct Subscription {
        let identifier: CableTable.Identifier
        var buffer = EventBuffer<CableEvent>()
        var readers: [CheckedContinuation<CableEvent?, any Error>] = []
        var isRejected = false
        /// Actions that wait until the server confirms the subscription.
        var waiting: [Outgoing] = []
    }

    private struct Outgoing {
        let command: CableCommand
        /// The caller that waits until the command is sent.
        var waiter: UInt64?
    }

    private let session: LinkSession
    private let time: ClientTime
    private var table = CableTable()
    private var subscriptions: [UInt64: Subscription] = [:]
    private var lastNumber: UInt64 = 0
    private var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    private var outbox: [Outgoing] = []
    private var isSending = false
    private var listening: Task<Void, Never>?
    private var timer: (due: Duration, task: Task<Void, Never>)?
    /// The result with which the client ended, or `nil` while it runs.
    private var end: Result<Void, ClientError>?

    /// Creates a client. It connects for the first subscription.
    ///
    /// ```swift
    /// let cable = CableClient(server, path: "/cable?deviceId=ada-7c1f")
    /// ```
    ///
    /// - Parameter path: The path and query, percent-encoded.
    public init(_ server: ServerAddress, path: String = "/cable", reconnect: ReconnectPolicy = .default) {
        self.init(.cable(systemTransport(to: server), path: path, reconnect: reconnect))
    }

    init(_ session: LinkSession) {
        self.session = session
        time = session.time
    }

    deinit {
        listening?.cancel()
        timer?.task.cancel()
        let session = session
        Task { await session.cancel(with: .goingAway) }
    }

    /// Subscribes to a channel.
    ///
    /// ```swift
    /// let reminders = await cable.subscribe("RemindersChannel")
    /// ```
    public func subscribe(_ channel: String, _ parameters: [String: String] = [:]) -> CableSubscription {
        let identifier = CableCommand.identifier(channel, parameters)
        lastNumber += 1
        var subscription = Subscription(identifier: identifier)
        if let end {
            subscription.buffer.finish(end.failure)
        } else if table.isConfirmed(identifier) {
            // Another subscription has the same identifier.
            _ = subscription.buffer.append(.confirmed)
        }
        subscriptions[lastNumber] = subscription
        if end == nil {
            sendCommands(table.subscribe(identifier, at: time.now()))
            listen()
        }
        return CableSubscription(CableSubscriber(self, lastNumber))
    }

    /// Closes the connection, and returns when the server has closed it too, or after five seconds. All events end.
    ///
    /// ```swift
    /// await cable.cancel()
    /// ```
    public func cancel() async {
        // The subscriptions end first, so that none of them reports a lost connection.
        finish(nil)
        await session.cancel(with: .goingAway)
    }

    // MARK: Subscriptions

    func next(_ number: UInt64) async throws -> CableEvent? {
        guard let next = subscriptions[number]?.buffer.next() else {
            guard subscriptions[number] != nil else { return nil }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { subscriptions[number]?.readers.append($0) }
            } onCancel: {
                Task { await self.leave(number) }
            }
        }
        return try next.get()
    }

    func leave(_ number: UInt64) {
        finish(number, nil)
    }

    /// Ends a subscription whose last reference was released.
    func release(_ number: UInt64) {
        finish(number, nil)
        subscriptions[number] = nil
    }

    func perform(_ action: String, _ number: UInt64) async throws {
        lastNumber += 1
        let id = lastNumber
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard let subscription = subscriptions[number], subscription.buffer.end == nil else {
                    let rejection = subscriptions[number]?.isRejected == true ? ClientError.rejected : nil
                    return continuation.resume(throwing: rejection ?? end?.failure ?? .cancelled)
                }
                guard waiters.count < Self.maxWaiting else {
                    return continuation.resume(throwing: ClientError.bufferFull)
                }
                waiters[id] = continuation
                let command = CableCommand("message", subscription.identifier, data: action)
                let outgoing = Outgoing(command: command, waiter: id)
                if table.isConfirmed(subscription.identifier) {
                    send([outgoing])
                } else {
                    subscriptions[number]?.waiting.append(outgoing)
                }
            }
        } onCancel: {
            Task { await self.giveUp(id) }
        }
    }

    private func giveUp(_ id: UInt64) {
        waiters.removeValue(forKey: id)?.resume(throwing: CancellationError())
        outbox.removeAll { $0.waiter == id }
        for number in subscriptions.keys { subscriptions[number]?.waiting.removeAll { $0.waiter == id } }
    }

    /// Ends a subscription's events.
    private func finish(_ number: UInt64, _ error: ClientError?) {
        guard let subscription = subscriptions[number], subscription.buffer.end == nil else { return }
        subscriptions[number]?.buffer.finish(error)
        subscriptions[number]?.waiting = []
        subscriptions[number]?.readers = []
        // A waiting reader receives the error. The next read then returns the end, because an error is reported only
        // once.
        if !subscription.readers.isEmpty { _ = subscriptions[number]?.buffer.next() }
        for reader in subscription.readers {
            // A reader waits only after it has read all events.
            if let error { reader.resume(throwing: error) } else { reader.resume(returning: nil) }
        }
        let reason = error ?? (subscription.isRejected ? .rejected : .cancelled)
        for outgoing in subscription.waiting { answer(outgoing, reason) }
        let isUsed = subscriptions.values.contains {
            $0.buffer.end == nil && $0.identifier == subscription.identifier
        }
        if !isUsed { sendCommands(table.unsubscribe(subscription.identifier)) }
    }

    /// Ends the events of all subscriptions.
    private func finish(_ error: ClientError?) {
        guard end == nil else { return }
        end = error.map { .failure($0) } ?? .success(())
        for number in subscriptions.keys.sorted() { finish(number, error) }
        for outgoing in outbox { answer(outgoing, error ?? ClientError.cancelled) }
        outbox = []
        timer?.task.cancel()
        timer = nil
    }

    private func deliver(_ identifier: CableTable.Identifier, _ event: CableEvent) {
        for number in subscriptions.keys.sorted() where subscriptions[number]?.identifier == identifier {
            deliver(number, event)
        }
    }

    private func deliver(_ number: UInt64, _ event: CableEvent) {
        guard subscriptions[number]?.buffer.end == nil else { return }
        if let reader = subscriptions[number]?.readers.first {
            subscriptions[number]?.readers.removeFirst()
            reader.resume(returning: event)
        } else if subscriptions[number]?.buffer.append(event, isLast: event == .rejected) == false {
            finish(number, .bufferFull)
        }
        guard event == .rejected else { return }
        subscriptions[number]?.isRejected = true
        finish(number, nil)
    }

    // MARK: Receiving

    private func listen() {
        guard listening == nil else { return }
        let session = session
        listening = Task { [weak self] in
            var error: ClientError?
            do {
                while let event = try await session.next() { await self?.receive(event) }
            } catch let failure as ClientError {
                error = failure
            } catch {}
            await self?.finish(error)
        }
    }

    private func receive(_ event: LinkSession.Event) async {
        switch event {
        case .opened: break
        case .closed, .waiting: lost()
        case .received(.message(_, let bytes)):
            guard let answer = CableAnswer(bytes) else { return }
            await receive(answer)
        case .received: break
        }
    }

    private func receive(_ answer: CableAnswer) async {
        switch answer {
        case .welcome: sendCommands(table.welcomed(at: time.now()))
        case .confirmed(let identifier):
            guard table.confirmed(identifier) else { return }
            deliver(identifier, .confirmed)
            for number in subscriptions.keys.sorted() where subscriptions[number]?.identifier == identifier {
                let waiting = subscriptions[number]?.waiting ?? []
                subscriptions[number]?.waiting = []
                send(waiting)
            }
        case .rejected(let identifier):
            guard table.rejected(identifier) else { return }
            deliver(identifier, .rejected)
        case .message(let identifier, let message): deliver(identifier, .message(message))
        case .disconnect(let reason, comesAgain: false):
            // The server's close frame may have ended the session already. The subscriptions are therefore ended here,
            // too.
            finish(.sentAway(reason))
            await session.fail(.sentAway(reason))
        case .disconnect(_, comesAgain: true): await session.comeAgain()
        }
    }

    private func lost() {
        for outgoing in outbox { answer(outgoing, ClientError.closed(.lost, reason: "")) }
        outbox = []
        for identifier in table.lost() { deliver(identifier, .lost) }
    }

    // MARK: Sending

    private func sendCommands(_ commands: [CableTable.Command]) {
        send(commands.map { Outgoing(command: CableCommand($0)) })
        setTimer()
    }

    private func send(_ more: [Outgoing]) {
        outbox += more
        guard !isSending, !outbox.isEmpty else { return }
        isSending = true
        // Commands are sent one after another, to keep their order.
        Task { await self.sendAll() }
    }

    private func sendAll() async {
        while !outbox.isEmpty {
            let next = outbox.removeFirst()
            do {
                try await session.send(next.command.frame, waits: false)
                next.waiter.flatMap { waiters.removeValue(forKey: $0) }?.resume()
            } catch {
                answer(next, error)
            }
        }
        isSending = false
    }

    private func answer(_ outgoing: Outgoing, _ error: any Error) {
        outgoing.waiter.flatMap { waiters.removeValue(forKey: $0) }?.resume(throwing: error)
    }

    private func setTimer() {
        guard end == nil, let due = table.deadline else { return }
        if let timer, timer.due <= due { return }
        timer?.task.cancel()
        let time = time
        let task = Task { [weak self] in
            guard (try? await time.sleep(due)) != nil else { return }
            await self?.timerFired(due)
        }
        timer = (due, task)
    }

    private func timerFired(_ due: Duration) {
        guard timer?.due == due else { return }
        timer = nil
        sendCommands(table.timePassed(at: time.now()))
    }
}

extension Result where Failure == ClientError {
    fileprivate var failure: ClientError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
