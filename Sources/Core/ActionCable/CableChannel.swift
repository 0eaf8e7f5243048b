package import Access
import Domain
package import Wire

/// A channel of Action Cable, as in `{"channel":"RoomChannel",…}`. README.md explains how to add one.
package protocol CableChannel: Sendable {
    /// The name in identifiers.
    var name: StaticString { get }

    /// Whether messages are stored. A client of the extended protocol then receives the messages that it missed, and
    /// its subscription continues.
    var keepsHistory: Bool { get }

    /// Handles a new subscription: checks the parameters and permissions, and calls ``SubscriptionTransport/confirm()``
    /// or ``SubscriptionTransport/reject()``, now or later. Called on the connection's loop.
    ///
    /// - Throws: ``CableRejection`` for an error that this method finds without a query.
    /// - Returns: The object that the transport holds until the subscription ends, confirmed or not.
    func subscribe(_ parameters: CableParameters, _ transport: SubscriptionTransport) throws(CableRejection)
        -> any CableSubscription
}

extension CableChannel {
    package var keepsHistory: Bool { false }
}

/// A subscription to a channel. All calls come on the connection's loop, and none after ``end()``.
package protocol CableSubscription: AnyObject {
    /// Performs a client's action. The transport sends any results.
    ///
    /// - Throws: ``CableActionError``, which is sent to the client.
    func perform(_ action: CableAction) throws(CableActionError)

    /// Sends the messages that the client has missed, and then calls ``SubscriptionTransport/confirmHistory()`` or
    /// ``SubscriptionTransport/rejectHistory()``. Called only if the channel stores messages.
    func replay(_ history: CableHistory)

    /// Handles a client's request about presence. Called only for the extended protocol.
    ///
    /// - Returns: Whether presence is available.
    func handlePresence(_ request: CablePresenceRequest) -> Bool

    /// Ends the subscription: the client unsubscribed or disconnected, it was rejected, or the channel ended it. Called
    /// once.
    func end()

    /// Reports that the kernel has taken all sent messages. Called only while ``SubscriptionTransport/reportsDrain`` is
    /// set.
    func allSent()

    /// Starts this subscription's turn to send its backlog, until ``SubscriptionTransport/endTurn()``. Called once for
    /// each ``SubscriptionTransport/awaitTurn()``.
    func hasTurn()
}

extension CableSubscription {
    package func allSent() {}
    package func hasTurn() {}
    package func replay(_ history: CableHistory) {}
    package func handlePresence(_ request: CablePresenceRequest) -> Bool { false }
}

/// A rejected subscription. The protocol has no way to send a reason.
package struct CableRejection: Error {
    package init() {}
}

/// A failed action, sent to the client as `{"type":"error","data":{"code","reason"}}`.
package struct CableActionError: Error, Hashable {
    let code: String
    let reason: String

    package init(code: String, reason: String) {
        self.code = code
        self.reason = reason
    }

    package static let unknownAction = CableActionError(
        code: "unknown_action", reason: "The channel has no action with this name.")
    static let busy = CableActionError(code: "busy", reason: "Too many actions are waiting. Send this one again later.")
    static let badData = CableActionError(
        code: "invalid_request",
        reason: "data must be a string that contains a JSON object with an action, which must be a string.")
}

extension CableParameters {
    /// Returns the identity of the subscriber: the device in the identifier, or otherwise the connection's identity.
    ///
    /// - Throws: ``CableRejection`` if the connection isn't allowed to act for the device.
    package func identity(of transport: SubscriptionTransport) throws(CableRejection) -> Identity {
        guard has("deviceId") else { return transport.identity }
        do {
            return try transport.identify(as: try DeviceID(text("deviceId")))
        } catch {
            throw CableRejection()
        }
    }
}
