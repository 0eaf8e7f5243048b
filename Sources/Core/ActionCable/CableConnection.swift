import Access
import Basics
import Domain
import Observability
import Rooms
import Server
import Sockets
import Wire

/// One WebSocket of `/cable`. Must be used on its loop.
///
/// ```
/// connecting ──end of the turn──► welcomed ──close, disconnect──► ended
///  commands wait  └──refused─────────────────────────────────────────▲
/// ```
///
/// ``SubscriptionTable`` decides the order of commands; channels give them their meaning.
final class CableConnection: WebSocketHandler {
    /// The response to a client's handshake.
    enum Greeting {
        case welcome(Identity)
        /// Extended protocol, with the session to continue.
        case extended(Identity, restoring: String?)
        case disconnect(CableDisconnect)
    }

    enum State {
        case connecting(Greeting, [CableCommand])
        case welcomed
        case ended
    }

    private let webSocket: WebSocket
    let shard: CableShard
    let identity: Identity
    var state: State
    private var table: SubscriptionTable
    private var transports: [CableIdentifier: SubscriptionTransport] = [:]
    /// The session of a client that uses the extended protocol.
    var session: Session?

    struct Session {
        let name: String
        /// The restored subscriptions that haven't started yet. A subscription starts with the client's first command
        /// about it, so that the missed messages come before new ones. Without a command, it starts after a short
        /// pause.
        var restoring: Set<CableIdentifier>
    }

    /// The subscriptions with a backlog, in the order of their requests. The first one has its turn.
    private var backlogs: [SubscriptionTransport] = []
    /// The position among the pinged connections. Only ``CableShard`` sets it.
    var place: PingWheel<CableConnection>.Place?
    /// The timer of the ticket's expiry.
    var expiry: TimerID?
    private var allowance: MessageAllowance
    /// Created at the first use, because few connections are in matches' rooms.
    private(set) lazy var sender = shard.cables.rooms.shard(on: shard.reactor).makeSender()

    init(_ webSocket: WebSocket, _ greeting: Greeting, on shard: CableShard) {
        self.webSocket = webSocket
        self.shard = shard
        state = .connecting(greeting, [])
        switch greeting {
        case .welcome(let identity), .extended(let identity, _): self.identity = identity
        case .disconnect: identity = .none
        }
        allowance = MessageAllowance(of: identity.device, shard.cables.messageRates)
        table = SubscriptionTable(limit: shard.cables.limits.subscriptions)
        shard.reactor.callAtEndOfTurn(self)
    }

    // MARK: Receiving

    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {
        guard allowance.pays(at: shard.reactor.now) else { return cutOffTooFast() }
        do throws(CableFault) {
            receive(try CableCommand(message, isExtended: isExtended))
        } catch {
            if isExtended, CableCommand.isPong(message) { return }
            shard.metrics.ignored.add(error)
        }
    }

    private func receive(_ command: CableCommand) {
        switch state {
        case .welcomed:
            perform(command)
        case .connecting(let greeting, let commands):
            guard commands.count < CableLimits.waitingCommands else { return disconnect(.invalidRequest) }
            state = .connecting(greeting, commands + [command])
        case .ended:
            break
        }
    }

    func perform(_ command: CableCommand) {
        guard case .welcomed = state else { return }
        let identifier = command.identifier
        switch command {
        case .subscribe, .resume:
            if !identifier.isTooLong, identifier.parameters == nil { return shard.metrics.ignored.add(.noIdentifier) }
        case .unsubscribe, .message, .history, .presence: break
        }
        if restores(command) { return }
        switch table.receive(command) {
        case .ignored(let fault): shard.metrics.ignored.add(fault)
        case .queued: proceed(identifier)
        case .muted:
            transports[identifier]?.isMuted = true
            proceed(identifier)
        case .repeated: break
        case .confirmedAgain: send(.confirmation(identifier))
        case .rejected: sendRejection(of: identifier)
        case .busy:
            // Nothing is sent for a subscription before its confirmation.
            guard let transport = transports[identifier], transport.isConfirmed else {
                return shard.metrics.ignored.add(.notSubscribed)
            }
            transport.refuse(.busy)
        case .overflow: disconnect(.invalidRequest)
        }
    }

    private func proceed(_ identifier: CableIdentifier) {
        while case .welcomed = state, let step = table.next(of: identifier) {
            switch step {
            case .begin(let number, let resumption): begin(identifier, number, resumption)
            case .perform(_, let data):
                guard pays(for: transports[identifier]) else { return cutOffTooFast() }
                transports[identifier]?.perform(data)
            case .replay(let history):
                guard pays(for: transports[identifier]) else { return cutOffTooFast() }
                transports[identifier]?.replay(history)
            case .handlePresence(let request): transports[identifier]?.handlePresence(request)
            case .end:
                transports.removeValue(forKey: identifier)?.finish()
                removeFromSession(identifier)
            }
        }
    }

    /// Charges a message to the device that the identifier names, unless it is the connection's own device. Returns
    /// whether the device may send it.
    private func pays(for transport: SubscriptionTransport?) -> Bool {
        guard let device = transport?.device, device != identity.device else { return true }
        return shard.cables.messageRates.pays(device, at: shard.reactor.now)
    }

    private func cutOffTooFast() {
        cutOff("more than \(shard.cables.limits.messageRate) messages per second")
    }

    private func begin(
        _ identifier: CableIdentifier, _ number: SubscriptionTable.Number, _ resumption: CableResumption?
    ) {
        let transport = SubscriptionTransport(identifier, number, resumption, identity: identity, of: self, on: shard)
        transport.isMuted = !table.isActive(number, of: identifier)
        transports[identifier] = transport
        guard let parameters = identifier.parameters, let channel = shard.cables.channel(named: parameters.channel)
        else { return transport.reject() }
        transport.begin(channel, parameters)
    }

    // MARK: Results of subscriptions

    func confirmed(_ transport: SubscriptionTransport) {
        table.confirm(transport.number, of: transport.identifier)
        if !transport.isMuted, !transport.isRestored { send(.confirmation(transport.identifier)) }
        if transport.isResumable, let session { shard.cables.sessions.add(transport.identifier, to: session.name) }
        if !transport.isBeginning { proceed(transport.identifier) }
    }

    func rejected(_ transport: SubscriptionTransport) {
        if !transport.isMuted { sendRejection(of: transport.identifier) }
        ended(transport)
    }

    func ended(_ transport: SubscriptionTransport) {
        shard.metrics.ignored.add(.notSubscribed, table.remove(transport.number, of: transport.identifier))
        removeFromSession(transport.identifier)
        if transports[transport.identifier] === transport { transports[transport.identifier] = nil }
        if !transport.isBeginning { proceed(transport.identifier) }
    }

    func beginWork(_ transport: SubscriptionTransport) {
        table.beginWork(transport.number, of: transport.identifier)
    }

    func endWork(_ transport: SubscriptionTransport, _ body: () -> Void) {
        table.endWork(transport.number, of: transport.identifier)
        body()
        proceed(transport.identifier)
    }

    // MARK: Sending

    static func frame(_ message: CableMessage) -> SharedBytes {
        SharedBytes { frame in
            message.bytes.withUnsafeBytes {
                WebSocketFrameEncoder.encode(.text, $0, longestPayload: CableLimits.framePayload, into: &frame)
            }
        }
    }

    func send(_ message: CableMessage) {
        send(frame: Self.frame(message))
    }

    func send(frame: SharedBytes, times: Int = 1) {
        webSocket.send(frame: frame, times: times)
    }

    private func sendRejection(of identifier: CableIdentifier) {
        shard.metrics.rejected.add()
        send(.rejection(identifier))
    }

    /// Whether more of a backlog may be sent. The limit is far below the limit for slow peers.
    var hasRoom: Bool { webSocket.unsentBytes < CableLimits.backlogBytes }

    /// Charges the peer's address for a database query, like a request. Returns whether it is admitted.
    func mayAsk() -> Bool { webSocket.admits(.request) }
    /// The peer, for tasks that work for it.
    var requester: Requester? { webSocket.requester }
    /// Charges the peer's address for stored messages. Returns whether they are admitted.
    func admits(messages count: Int) -> Bool { webSocket.admits(.message, times: count) }
    var limitedNetwork: IPAddress? { webSocket.limitedNetwork }

    func reportDrain() {
        webSocket.reportsDrain = true
    }

    func webSocketDidDrain(_ webSocket: WebSocket) {
        for transport in transports.values { transport.drained() }
    }

    // MARK: Backlogs

    func awaitTurn(_ transport: SubscriptionTransport) {
        backlogs.append(transport)
        if backlogs.count == 1 { transport.hasTurn() }
    }

    func endTurn(_ transport: SubscriptionTransport) {
        guard let index = backlogs.firstIndex(where: { $0 === transport }) else { return }
        backlogs.remove(at: index)
        if index == 0 { backlogs.first?.hasTurn() }
    }

    // MARK: The end

    func disconnect(_ reason: CableDisconnect) {
        sendDisconnect(reason)
        webSocket.close(.normalClosure)
    }

    func revokeSubscriptions(of device: DeviceID) {
        for transport in transports.values where transport.device == device { transport.revoke() }
    }

    func cutOff(_ reason: String) {
        webSocket.close(.policyViolation, reason)
    }

    func operatorEnds(_ webSocket: WebSocket) {
        disconnect(.remote)
    }

    var facts: ConnectionFacts { ConnectionFacts("cable", owner: identity.device?.text) }

    func serverStops(_ webSocket: WebSocket) {
        sendDisconnect(.serverRestart)
    }

    private func sendDisconnect(_ reason: CableDisconnect) {
        if case .ended = state { return }
        // A session gives no access by itself, so it is kept if the client may reconnect.
        if let session, !reason.mayReconnect { shard.cables.sessions.end(session.name) }
        shard.metrics.disconnected.add(reason)
        send(.disconnect(reason))
    }

    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {
        state = .ended
        if let session { shard.cables.sessions.leave(session.name, at: shard.reactor.now) }
        shard.remove(self)
        if let expiry { shard.reactor.cancel(expiry) }
        let transports = transports.values
        self.transports = [:]
        backlogs = []
        for transport in transports { transport.finish() }
    }
}
