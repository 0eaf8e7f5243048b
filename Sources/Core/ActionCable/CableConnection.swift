import Access
import Domain
import Observability
import Rooms
import Server
import Sockets
import Wire

/// One WebSocket of `/cable`. On its loop.
///
/// ```
/// connecting ──end of the turn──► welcomed ──close, disconnect──► ended
///  commands wait  └──not let in──────────────────────────────────────▲
/// ```
///
/// What its commands lead to is ``SubscriptionTable``'s to decide; what they mean, its channels'.
final class CableConnection: WebSocketHandler {
    /// How the client is greeted.
    enum Greeting {
        case welcome(Identity)
        /// By the extended protocol, with the session that is to go on.
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
    private var outlets: [CableIdentifier: SubscriptionOutlet] = [:]
    /// By the extended protocol.
    var session: Session?

    struct Session {
        let name: String
        /// Subscriptions of the lost connection that begin with the client's first word about each, so that nothing comes before what it
        /// has missed; or a moment later.
        var restoring: Set<CableIdentifier>
    }

    /// Those who have a backlog, in the order in which they asked. The first has its turn.
    private var backlogs: [SubscriptionOutlet] = []
    /// ``CableShard``'s to set.
    var place: PingWheel<CableConnection>.Place?
    /// Its ticket's end.
    var expiry: TimerID?
    private var allowance: MessageAllowance
    /// In matches' rooms; few connections are in any.
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
            obey(command)
        case .connecting(let greeting, let commands):
            guard commands.count < CableLimits.waitingCommands else { return disconnect(.invalidRequest) }
            state = .connecting(greeting, commands + [command])
        case .ended:
            break
        }
    }

    func obey(_ command: CableCommand) {
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
            outlets[identifier]?.isMuted = true
            proceed(identifier)
        case .repeated: break
        case .confirmedAgain: send(.confirmation(identifier))
        case .rejected: sendRejection(of: identifier)
        case .busy:
            // Nothing is said of a subscription before its confirmation.
            guard let outlet = outlets[identifier], outlet.isConfirmed else {
                return shard.metrics.ignored.add(.notSubscribed)
            }
            outlet.refuse(.busy)
        case .overflow: disconnect(.invalidRequest)
        }
    }

    private func proceed(_ identifier: CableIdentifier) {
        while case .welcomed = state, let step = table.next(of: identifier) {
            switch step {
            case .begin(let number, let resumption): begin(identifier, number, resumption)
            case .perform(_, let data):
                guard pays(for: outlets[identifier]) else { return cutOffTooFast() }
                outlets[identifier]?.perform(data)
            case .replay(let history):
                guard pays(for: outlets[identifier]) else { return cutOffTooFast() }
                outlets[identifier]?.replay(history)
            case .tellPresence(let wish): outlets[identifier]?.tellPresence(wish)
            case .end:
                outlets.removeValue(forKey: identifier)?.finish()
                forget(identifier)
            }
        }
    }

    /// Whether one more may be said: another device that the identifier names pays too, as it would on a connection of its own.
    private func pays(for outlet: SubscriptionOutlet?) -> Bool {
        guard let device = outlet?.device, device != identity.device else { return true }
        return shard.cables.messageRates.pays(device, at: shard.reactor.now)
    }

    private func cutOffTooFast() {
        cutOff("more than \(shard.cables.limits.messageRate) messages a second")
    }

    private func begin(
        _ identifier: CableIdentifier, _ number: SubscriptionTable.Number, _ resumption: CableResumption?
    ) {
        let outlet = SubscriptionOutlet(identifier, number, resumption, identity: identity, of: self, on: shard)
        outlet.isMuted = !table.isHeard(number, of: identifier)
        outlets[identifier] = outlet
        guard let parameters = identifier.parameters, let channel = shard.cables.channel(named: parameters.channel)
        else { return outlet.reject() }
        outlet.begin(channel, parameters)
    }

    // MARK: What becomes of subscriptions

    func confirmed(_ outlet: SubscriptionOutlet) {
        table.confirm(outlet.number, of: outlet.identifier)
        if !outlet.isMuted, !outlet.isRestored { send(.confirmation(outlet.identifier)) }
        if outlet.goesOn, let session { shard.cables.sessions.add(outlet.identifier, to: session.name) }
        if !outlet.isBeginning { proceed(outlet.identifier) }
    }

    func rejected(_ outlet: SubscriptionOutlet) {
        if !outlet.isMuted { sendRejection(of: outlet.identifier) }
        ended(outlet)
    }

    func ended(_ outlet: SubscriptionOutlet) {
        shard.metrics.ignored.add(.notSubscribed, table.remove(outlet.number, of: outlet.identifier))
        forget(outlet.identifier)
        if outlets[outlet.identifier] === outlet { outlets[outlet.identifier] = nil }
        if !outlet.isBeginning { proceed(outlet.identifier) }
    }

    func beginWork(_ outlet: SubscriptionOutlet) {
        table.beginWork(outlet.number, of: outlet.identifier)
    }

    func endWork(_ outlet: SubscriptionOutlet, _ body: () -> Void) {
        table.endWork(outlet.number, of: outlet.identifier)
        body()
        proceed(outlet.identifier)
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

    /// Whether more may be sent of what can wait: far from where a peer that doesn't read is cut off.
    var hasRoom: Bool { webSocket.unsentBytes < CableLimits.backlogBytes }

    /// Whether the peer's address may ask the database once more, as it may by requests.
    func mayAsk() -> Bool { webSocket.admits(.request) }
    /// Whether it may have so many things more kept that are said.
    func admits(messages count: Int) -> Bool { webSocket.admits(.message, times: count) }

    func reportDrain() {
        webSocket.reportsDrain = true
    }

    func webSocketDidDrain(_ webSocket: WebSocket) {
        for outlet in outlets.values { outlet.drained() }
    }

    // MARK: Backlogs

    func awaitTurn(_ outlet: SubscriptionOutlet) {
        backlogs.append(outlet)
        if backlogs.count == 1 { outlet.hasTurn() }
    }

    func endTurn(_ outlet: SubscriptionOutlet) {
        guard let index = backlogs.firstIndex(where: { $0 === outlet }) else { return }
        backlogs.remove(at: index)
        if index == 0 { backlogs.first?.hasTurn() }
    }

    // MARK: The end

    func disconnect(_ reason: CableDisconnect) {
        sendDisconnect(reason)
        webSocket.close(.normalClosure)
    }

    func revokeSubscriptions(of device: DeviceID) {
        for outlet in outlets.values where outlet.device == device { outlet.revoke() }
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
        // Nobody is let in by a session who wouldn't be without; who is to come again does so by it.
        if let session, !reason.mayReconnect { shard.cables.sessions.end(session.name) }
        shard.metrics.disconnected.add(reason)
        send(.disconnect(reason))
    }

    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {
        state = .ended
        if let session { shard.cables.sessions.leave(session.name, at: shard.reactor.now) }
        shard.remove(self)
        if let expiry { shard.reactor.cancel(expiry) }
        let outlets = outlets.values
        self.outlets = [:]
        backlogs = []
        for outlet in outlets { outlet.finish() }
    }
}
