package import Access
import Domain
package import Wire

/// A channel of Action Cable: what `{"channel":"RoomChannel",…}` leads to. See README.md for how to add one.
package protocol CableChannel: Sendable {
    /// As identifiers name it.
    var name: StaticString { get }

    /// Whether what was said is kept: a client of the extended protocol that was away is told what it has missed, and is inside again.
    var keepsHistory: Bool { get }

    /// Somebody wants to subscribe. Checks the parameters and the right, and calls ``SubscriptionOutlet/confirm()`` or ``SubscriptionOutlet/reject()``,
    /// now or later. On the connection's loop.
    ///
    /// - Throws: ``CableRejection``, for what is wrong at once.
    /// - Returns: What the outlet holds until the subscription ends, confirmed or not.
    func subscribe(_ parameters: CableParameters, _ outlet: SubscriptionOutlet) throws(CableRejection)
        -> any CableSubscription
}

extension CableChannel {
    package var keepsHistory: Bool { false }
}

/// One subscription to a channel. All calls come on the connection's loop, and none after ``end()``.
package protocol CableSubscription: AnyObject {
    /// The client wants something done. What it hears of that is sent by the outlet.
    ///
    /// - Throws: ``CableActionError``, which the client is told.
    func perform(_ action: CableAction) throws(CableActionError)

    /// The client has missed something, and is to be told by ``SubscriptionOutlet/confirmHistory()`` when it has all, or
    /// ``SubscriptionOutlet/rejectHistory()``. Called only where the channel keeps it.
    func replay(_ history: CableHistory)

    /// The client wants to know who is there. By the extended protocol.
    ///
    /// - Returns: Whether that is known.
    func tellPresence(_ wish: CablePresenceWish) -> Bool

    /// It is over: the client unsubscribed or left, was rejected, or the channel ended it. Called once.
    func end()

    /// The kernel has taken all that was sent. Called only while ``SubscriptionOutlet/reportsDrain`` is set.
    func allSent()

    /// It is this one's turn to send of its backlog, until ``SubscriptionOutlet/endTurn()``. Called once for each ``SubscriptionOutlet/awaitTurn()``.
    func hasTurn()
}

extension CableSubscription {
    package func allSent() {}
    package func hasTurn() {}
    package func replay(_ history: CableHistory) {}
    package func tellPresence(_ wish: CablePresenceWish) -> Bool { false }
}

/// Somebody may not subscribe. What for is nobody's to know: the protocol has no word for it.
package struct CableRejection: Error {
    package init() {}
}

/// An action that can't be done, as the client is told: `{"type":"error","data":{"code","reason"}}`.
package struct CableActionError: Error, Hashable {
    let code: String
    let reason: String

    package init(code: String, reason: String) {
        self.code = code
        self.reason = reason
    }

    package static let unknownAction = CableActionError(
        code: "unknown_action", reason: "The channel has no such action.")
    static let busy = CableActionError(code: "busy", reason: "More actions wait than may.")
    static let badData = CableActionError(
        code: "invalid_request", reason: "data is a string that holds an object, whose action is a string.")
}

extension CableParameters {
    /// Who subscribes: the device that the identifier names, else whoever the connection is.
    ///
    /// - Throws: ``CableRejection`` when the device isn't the connection's to name.
    package func identity(of outlet: SubscriptionOutlet) throws(CableRejection) -> Identity {
        guard has("deviceId") else { return outlet.identity }
        do {
            return try outlet.identify(as: try DeviceID(text("deviceId")))
        } catch {
            throw CableRejection()
        }
    }
}
