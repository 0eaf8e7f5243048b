import Access
import Domain
import Sockets
import Wire

/// The beginning of a connection: new, or continuing the session of a lost one.
extension CableConnection: TurnEndHandler {
    /// Handles the commands that came with the handshake.
    func turnEnds() {
        guard case .connecting(let greeting, let commands) = state else { return }
        switch greeting {
        case .disconnect(let reason):
            disconnect(reason)
        case .welcome:
            send(frame: shard.welcomeFrame)
            welcomed(commands)
        case .extended(let identity, let last):
            let begun = shard.cables.sessions.begin(of: identity.device, restoring: last, at: shard.reactor.now)
            session = Session(name: begun.name, restoring: Set(begun.identifiers))
            send(.session(begun.name, restored: begun.identifiers))
            welcomed(commands)
            if !begun.identifiers.isEmpty { awaitRestored() }
        }
    }

    private func welcomed(_ commands: [CableCommand]) {
        state = .welcomed
        shard.add(self)
        awaitExpiry()
        for command in commands { perform(command) }
    }

    var isExtended: Bool {
        if case .connecting(.extended, _) = state { true } else { session != nil }
    }

    /// Waits until the client requests the missed messages of restored subscriptions. A client that restores a session
    /// requests them without a pause. Without a request, a subscription continues with new messages.
    private func awaitRestored() {
        shard.reactor.schedule(after: CableLimits.restorePause) { [weak self] in
            guard let self, let restoring = session?.restoring else { return }
            for identifier in restoring { restore(identifier, nil) }
        }
    }

    private func restore(_ identifier: CableIdentifier, _ history: CableHistory?) {
        session?.restoring.remove(identifier)
        perform(.resume(identifier, CableResumption(history: history, isRestored: true)))
    }

    /// Handles a command about a restored subscription.
    ///
    /// - Returns: Whether the command is complete.
    func restores(_ command: CableCommand) -> Bool {
        let identifier = command.identifier
        guard session?.restoring.contains(identifier) ?? false else { return false }
        switch command {
        case .history(_, let history?):
            restore(identifier, history)
            return true
        case .unsubscribe:
            session?.restoring.remove(identifier)
            removeFromSession(identifier)
            return true
        case .subscribe, .resume:
            session?.restoring.remove(identifier)
            return false
        case .message, .history, .presence:
            restore(identifier, nil)
            return false
        }
    }

    /// Removes the subscription from the session.
    func removeFromSession(_ identifier: CableIdentifier) {
        if let session { shard.cables.sessions.remove(identifier, from: session.name) }
    }

    /// Closes the connection when its ticket expires.
    private func awaitExpiry() {
        guard let end = identity.expiry else { return }
        let left = end - shard.cables.verifier.now()
        guard left > 0 else { return disconnect(.tokenExpired) }
        expiry = shard.reactor.schedule(after: Ticket.wait(forExpiryIn: left)) { [weak self] in self?.awaitExpiry() }
    }
}
