package import Basics

/// The transport of a subscriber: a WebSocket, an event stream, or a channel of another protocol.
package protocol ConversationTransport: AnyObject {
    func send(_ event: ConversationEvent)
    func send(_ batch: SubscriberMessages)
    /// Requests a call of ``ConversationSubscriber/drained()`` when the peer has received everything that was sent.
    func reportDrain()
    /// Requests a call of ``ConversationSubscriber/hasTurn()`` when a page may be read. The transport gives one turn at
    /// a time.
    func awaitTurn()
    /// Ends the turn: the page was sent, or there was none.
    func endTurn()
    /// Reports that everything that ``ConversationSubscriber/awaitCatchUp()`` waited for was sent.
    func caughtUp()
    /// The client, for tasks that work for it. `nil` if limits don't apply to it.
    var requester: Requester? { get }
    /// Counts messages. Returns whether the quota of the peer's address allows them.
    func admits(messages count: Int) -> Bool
    /// Whether the peer receives presence.
    var wantsPresence: Bool { get }
    /// Whether the peer receives presence even if no other user is present.
    var wantsPresenceAlone: Bool { get }
    /// Ends the transport, because the subscriber broke a limit or must leave.
    func end(_ cause: ConversationTransportEnd)
}

extension ConversationTransport {
    package func caughtUp() {}
    package var wantsPresenceAlone: Bool { false }
}

/// A transport with one subscriber, which gets a turn without waiting.
package protocol ExclusiveConversationTransport: ConversationTransport {
    var subscriber: ConversationSubscriber? { get }
}

extension ExclusiveConversationTransport {
    package func awaitTurn() { subscriber?.hasTurn() }
    package func endTurn() {}
}

package enum ConversationTransportEnd {
    /// Too many messages are waiting.
    case tooFast
    /// The subscriber's device was erased.
    case erased
    /// The subscriber's ticket has expired.
    case expired
}
