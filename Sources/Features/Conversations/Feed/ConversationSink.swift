package import Basics

/// The transport of a subscriber: a WebSocket, an event stream, or a channel of another protocol.
package protocol ConversationSink: AnyObject {
    func send(_ event: ConversationEvent)
    func send(_ batch: SubscriberMessages)
    /// Asks for a call of ``ConversationSubscriber/drained()`` when the peer has received everything that was sent.
    func reportDrain()
    /// Asks for a call of ``ConversationSubscriber/hasTurn()`` when a page may be read. Only one turn is given at a
    /// time.
    func awaitTurn()
    /// Reports that the page was sent, or that there was nothing.
    func endTurn()
    /// Reports that everything ``ConversationSubscriber/awaitCatchUp()`` waited for was sent.
    func caughtUp()
    /// The client, for tasks that work for it; `nil` if limits don't count it.
    var requester: Requester? { get }
    /// Returns whether the quota of its address allows this many messages.
    func admits(messages count: Int) -> Bool
    /// Whether it receives presence.
    var wantsPresence: Bool { get }
    /// Whether it receives presence also if no other user is present.
    var wantsPresenceAlone: Bool { get }
    /// Ends the transport, because the subscriber broke a rule or may not stay.
    func end(_ cause: ConversationSinkEnd)
}

extension ConversationSink {
    package func caughtUp() {}
    package var wantsPresenceAlone: Bool { false }
}

/// A transport with one subscriber, which may always read a page.
package protocol ExclusiveConversationSink: ConversationSink {
    var subscriber: ConversationSubscriber? { get }
}

extension ExclusiveConversationSink {
    package func awaitTurn() { subscriber?.hasTurn() }
    package func endTurn() {}
}

package enum ConversationSinkEnd {
    /// Too many messages are waiting.
    case tooFast
    /// The subscriber's device was erased.
    case erased
    /// The subscriber's ticket has expired.
    case expired
}
