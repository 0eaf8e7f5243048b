import Access
package import Basics
import Domain
package import Rooms
package import Sockets
package import Wire

/// A subscription's access to its connection: the confirmation, and messages to the client. Must be used on the
/// connection's loop.
///
/// ```
/// pending ──confirm──► confirmed ──end──► over
///    └────reject───────────────────────────▲
/// ```
package final class SubscriptionTransport {
    private enum State {
        case pending
        case confirmed(ConfirmPause)
        /// The channel has ended the subscription, and held messages remain to be sent.
        case ending(ConfirmPause)
        case over
    }

    let identifier: CableIdentifier
    let number: SubscriptionTable.Number
    let identity: Identity
    let connection: CableConnection
    let shard: CableShard
    private var subscription: (any CableSubscription)?
    private var state = State.pending
    /// The owner of the subscription: the connection's device, or another one in the identifier.
    var device: DeviceID?
    private(set) var isBeginning = false
    private var keepsHistory = false
    /// The position to continue from, given by a client of the extended protocol.
    private let resumption: CableResumption?
    /// Whether the subscription sends nothing more. `true` after the client has unsubscribed, while its earlier actions
    /// are still being performed.
    var isMuted = false
    /// Whether the subscription is notified when the kernel has taken all sent messages.
    package var reportsDrain = false {
        didSet { if reportsDrain { connection.reportDrain() } }
    }

    init(
        _ identifier: CableIdentifier, _ number: SubscriptionTable.Number, _ resumption: CableResumption?,
        identity: Identity, of connection: CableConnection, on shard: CableShard
    ) {
        self.identifier = identifier
        self.number = number
        self.resumption = resumption
        self.identity = identity
        self.connection = connection
        self.shard = shard
    }

    /// The connection's sender in all its rooms.
    package var sender: Sender { connection.sender }
    /// The client, for tasks that work for it. ``WaitingQueries`` and limits treat its queries as one client's.
    package var requester: Requester? { connection.requester }
    /// Charges the client's address for messages that will be stored. Returns whether the address's limit allows the
    /// messages.
    package func admits(messages count: Int) -> Bool { connection.admits(messages: count) }

    /// The network of the client's address. Each network gets only a share of a limit, such as the capacity of a
    /// question session. `nil` if limits don't apply to the client.
    package var limitedNetwork: IPAddress? { connection.limitedNetwork }

    /// Whether the client uses the extended protocol.
    package var isExtended: Bool { connection.isExtended }
    /// The client's history, which the channel replays.
    package var history: CableHistory? { resumption?.history }
    /// Whether the client wants presence events from the beginning.
    package var joins: Bool { resumption?.joins ?? false }
    /// Whether the subscription continues in a later connection of the session.
    var isResumable: Bool { isExtended && keepsHistory }
    /// Whether the subscription continues after a lost connection without a command from the client.
    var isRestored: Bool { resumption?.isRestored ?? false }

    var isConfirmed: Bool {
        if case .confirmed = state { true } else { false }
    }

    var isOver: Bool {
        switch state {
        case .pending, .confirmed: false
        case .ending, .over: true
        }
    }

    /// Makes the device that the identifier names the owner of the subscription.
    ///
    /// - Throws: If the connection isn't allowed to act for the device.
    func identify(as named: DeviceID) throws -> Identity {
        let identity = try shard.cables.verifier.identity(identity, naming: named)
        device = identity.device
        return identity
    }

    // MARK: Life

    func begin(_ channel: any CableChannel, _ parameters: CableParameters) {
        isBeginning = true
        keepsHistory = channel.keepsHistory
        defer { isBeginning = false }
        do throws(CableRejection) {
            let subscription = try channel.subscribe(parameters, self)
            if isOver { subscription.end() } else { self.subscription = subscription }
        } catch {
            reject()
        }
    }

    /// Confirms the subscription. Messages may be sent from now on.
    package func confirm() {
        guard case .pending = state else { return }
        // Reads the clock, because the pause starts now and not at the beginning of this turn.
        state = .confirmed(ConfirmPause(confirmedAt: .now()))
        connection.confirmed(self)
        if history != nil, !keepsHistory { rejectHistory() }
    }

    package func reject() {
        guard case .pending = state else { return }
        finish()
        connection.rejected(self)
    }

    /// Ends the subscription for the channel. Messages sent before are still delivered.
    package func end() {
        guard !isOver else { return }
        if case .confirmed(let pause) = state, !pause.isEmpty, !isMuted {
            state = .ending(pause)
            finishSubscription()
        } else {
            finish()
            connection.ended(self)
        }
    }

    /// Ends the subscription for the channel, and notifies the client of the rejection.
    package func revoke() {
        guard !isOver else { return }
        finish()
        connection.rejected(self)
    }

    /// Ends the subscription for the connection.
    func finish() {
        state = .over
        finishSubscription()
        connection.endTurn(self)
    }

    private func finishSubscription() {
        let subscription = subscription
        self.subscription = nil
        subscription?.end()
    }

    func perform(_ data: [UInt8]?) {
        do throws(CableActionError) {
            guard let action = data.flatMap({ CableAction($0) }) else { throw .badData }
            try subscription?.perform(action)
        } catch {
            refuse(error)
        }
    }

    /// Reports that an action failed.
    func refuse(_ error: CableActionError) { send(.error(error.code, error.reason)) }

    /// - Parameter history: `nil` if the client's request can't be read.
    func replay(_ history: CableHistory?) {
        guard keepsHistory, let history else { return rejectHistory() }
        subscription?.replay(history)
    }

    func handlePresence(_ request: CablePresenceRequest) {
        guard let subscription, !subscription.handlePresence(request), request == .presence else { return }
        send(CablePresence.unavailable)
    }

    func drained() {
        // Held messages are not with the kernel yet.
        guard case .confirmed(let pause) = state, pause.isEmpty, reportsDrain, !isMuted else { return }
        subscription?.allSent()
    }

    // MARK: Sending

    package func send(_ content: CableContent) {
        send(frame: CableConnection.frame(.message(identifier, content)))
    }

    /// Sends a stored message, with its position if the client uses positions.
    package func send(_ content: CableContent, at position: CablePosition) {
        guard isExtended else { return send(content) }
        send(frame: CableConnection.frame(.kept(identifier, content, position)))
    }

    /// Reports that all missed messages were sent.
    package func confirmHistory() { send(frame: CableConnection.frame(.historyConfirmation(identifier))) }

    /// Reports that missed messages aren't available.
    package func rejectHistory() { send(frame: CableConnection.frame(.historyRejection(identifier))) }

    package func send(_ presence: CablePresence) { send(frame: CableConnection.frame(.presence(identifier, presence))) }

    /// Whether more of a backlog may be sent. If not, ``CableSubscription/allSent()`` is called when more may be sent.
    package var hasRoom: Bool {
        // All held messages are sent together at the end of the pause.
        if case .confirmed(let pause) = state, !pause.isEmpty { return false }
        return connection.hasRoom
    }

    package func frame(of content: CableContent) -> SharedBytes {
        CableConnection.frame(.message(identifier, content))
    }

    /// Returns the frame of a content for many subscribers, shared by all subscriptions with this identifier.
    package func sharedFrame(of content: CableContent) -> SharedBytes {
        shard.frame(of: content, for: identifier) { content }
    }

    /// Returns the shared frame of a content that `subject` determines.
    package func sharedFrame(of subject: some Hashable, make: () -> CableContent) -> SharedBytes {
        shard.frame(of: subject, for: identifier, make: make)
    }

    package func send(_ contents: SharedContents) {
        for frame in contents.frames(for: identifier) { send(frame: frame) }
    }

    package func send(frame: SharedBytes, times: Int = 1) {
        guard case .confirmed(var pause) = state, !isMuted else { return }
        // Changes the state first, because a pause that the state also holds would be copied when it changes.
        state = .over
        let verdict = pause.send(frame, times: times, at: reactor.now)
        state = .confirmed(pause)
        switch verdict {
        case .send: connection.send(frame: frame, times: times)
        case .hold: break
        case .holdUntil(let delay): reactor.schedule(after: delay) { [weak self] in self?.releaseHeld() }
        case .overflow: connection.cutOff("too many messages right after a subscription's confirmation")
        }
    }

    private func releaseHeld() {
        switch state {
        case .pending, .over: break
        case .confirmed(var pause):
            let held = pause.release()
            state = .confirmed(pause)
            send(held)
        case .ending(var pause):
            send(pause.release())
            state = .over
            connection.ended(self)
        }
    }

    private func send(_ held: [ConfirmPause.Held]) {
        guard !isMuted else { return }
        for held in held { connection.send(frame: held.frame, times: held.times) }
    }

    /// Closes the connection of a peer that doesn't read.
    package func cutOff() { connection.cutOff("the client reads too slowly") }

    // MARK: Backlogs

    /// Requests a turn to send stored messages. One subscription of a connection has the turn at a time, so that only
    /// one backlog is in memory. The turn starts after the pause that follows the confirmation.
    package func awaitTurn() {
        guard case .confirmed(let pause) = state, let left = pause.timeLeft(at: reactor.now) else {
            return connection.awaitTurn(self)
        }
        call(after: left) { [weak self] in self?.awaitTurn() }
    }

    /// Ends the turn or the request for a turn. Does nothing if there is none.
    package func endTurn() { connection.endTurn(self) }

    /// Starts the turn. Called by the connection.
    func hasTurn() { subscription?.hasTurn() }
}
