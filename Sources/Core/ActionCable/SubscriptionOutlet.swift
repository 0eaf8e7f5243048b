import Access
import Basics
import Domain
package import Rooms
package import Sockets
package import Wire

/// What one subscription has of its connection: its confirmation, and the way to its client. On the connection's loop.
///
/// ```
/// pending ──confirm──► confirmed ──end──► over
///    └────reject───────────────────────────▲
/// ```
package final class SubscriptionOutlet {
    private enum State {
        case pending
        case confirmed(ConfirmPause)
        /// Nothing is sent any more but what is held back.
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
    /// Whose the subscription is: the connection's device, or another that its identifier names.
    var device: DeviceID?
    private(set) var isBeginning = false
    private var keepsHistory = false
    /// What it goes on from, by the extended protocol.
    private let resumption: CableResumption?
    /// The client has unsubscribed, and what it said before that is yet to be done.
    var isMuted = false
    /// Whether the subscription is told when the kernel has all that was sent.
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

    /// The connection, in all rooms that it is in.
    package var sender: Sender { connection.sender }
    /// Whether the client's address may have so many things more kept that it says.
    package func admits(messages count: Int) -> Bool { connection.admits(messages: count) }

    /// Whether the client speaks the extended protocol.
    package var isExtended: Bool { connection.isExtended }
    /// What it has missed, as it says; the channel replays it.
    package var history: CableHistory? { resumption?.history }
    /// Whether it is to be told from the beginning who comes and goes.
    package var joins: Bool { resumption?.joins ?? false }
    /// Whether it goes on in a later connection of the session.
    var goesOn: Bool { isExtended && keepsHistory }
    /// Whether it goes on from a lost connection, of which the client needs no word.
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

    /// From now on it is a device's that its identifier names.
    ///
    /// - Throws: The device isn't the connection's to name.
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

    /// From now on messages may be sent.
    package func confirm() {
        guard case .pending = state else { return }
        // From now on, and not from when this turn of the loop began.
        state = .confirmed(ConfirmPause(confirmedAt: .now()))
        connection.confirmed(self)
        if history != nil, !keepsHistory { rejectHistory() }
    }

    package func reject() {
        guard case .pending = state else { return }
        finish()
        connection.rejected(self)
    }

    /// Ends the subscription from the channel's side, after what it was sent.
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

    /// Ends the subscription from the channel's side, and tells the client that it is not to have it any more.
    package func revoke() {
        guard !isOver else { return }
        finish()
        connection.rejected(self)
    }

    /// From the connection's side.
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

    /// An action isn't done.
    func refuse(_ error: CableActionError) { send(.error(error.code, error.reason)) }

    /// - Parameter history: `nil`: it can't be read.
    func replay(_ history: CableHistory?) {
        guard keepsHistory, let history else { return rejectHistory() }
        subscription?.replay(history)
    }

    func tellPresence(_ wish: CablePresenceWish) {
        guard let subscription, !subscription.tellPresence(wish), wish == .presence else { return }
        send(CablePresence.unavailable)
    }

    func drained() {
        // What is held back, or was for nobody, is not with the kernel.
        guard case .confirmed(let pause) = state, pause.isEmpty, reportsDrain, !isMuted else { return }
        subscription?.allSent()
    }

    // MARK: Sending

    package func send(_ content: CableContent) {
        send(frame: CableConnection.frame(.message(identifier, content)))
    }

    /// A message of what is kept, with where it stands for those who ask for that.
    package func send(_ content: CableContent, at position: CablePosition) {
        guard isExtended else { return send(content) }
        send(frame: CableConnection.frame(.kept(identifier, content, position)))
    }

    /// What was missed is sent.
    package func confirmHistory() { send(frame: CableConnection.frame(.historyConfirmation(identifier))) }

    /// What was missed isn't to be had.
    package func rejectHistory() { send(frame: CableConnection.frame(.historyRejection(identifier))) }

    package func send(_ presence: CablePresence) { send(frame: CableConnection.frame(.presence(identifier, presence))) }

    /// Whether more may be sent of what can wait. Where it may not, ``CableSubscription/allSent()`` says when.
    package var hasRoom: Bool {
        // What is held back leaves all at once.
        if case .confirmed(let pause) = state, !pause.isEmpty { return false }
        return connection.hasRoom
    }

    package func frame(of content: CableContent) -> SharedBytes {
        CableConnection.frame(.message(identifier, content))
    }

    /// The frame of a content of which many are sent, the same for all subscriptions with this identifier.
    package func sharedFrame(of content: CableContent) -> SharedBytes {
        shard.frame(of: content, for: identifier) { content }
    }

    /// The same, of what `subject` alone decides.
    package func sharedFrame(of subject: some Hashable, make: () -> CableContent) -> SharedBytes {
        shard.frame(of: subject, for: identifier, make: make)
    }

    package func send(_ contents: SharedContents) {
        for frame in contents.frames(for: identifier) { send(frame: frame) }
    }

    package func send(frame: SharedBytes, times: Int = 1) {
        guard case .confirmed(var pause) = state, !isMuted else { return }
        // Not while the state holds it too: that would copy what it holds.
        state = .over
        let verdict = pause.send(frame, times: times, at: reactor.now)
        state = .confirmed(pause)
        switch verdict {
        case .send: connection.send(frame: frame, times: times)
        case .hold: break
        case .holdUntil(let delay): reactor.schedule(after: delay) { [weak self] in self?.releaseHeld() }
        case .overflow: connection.cutOff("too much came at once")
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

    /// Ends the connection of a peer that doesn't read.
    package func cutOff() { connection.cutOff("too much waits for it") }

    // MARK: Backlogs

    /// Asks for a turn at sending what is stored: one subscription of a connection has it at a time, so that what several have yet to send
    /// is in nobody's memory. It has it once what follows the confirmation need not be held back.
    package func awaitTurn() {
        guard case .confirmed(let pause) = state, let left = pause.timeLeft(at: reactor.now) else {
            return connection.awaitTurn(self)
        }
        call(after: left) { [weak self] in self?.awaitTurn() }
    }

    /// Does nothing for who has none, and waits for none.
    package func endTurn() { connection.endTurn(self) }

    /// From the connection's side.
    func hasTurn() { subscription?.hasTurn() }
}
