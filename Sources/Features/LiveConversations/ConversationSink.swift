/// What a subscriber's events leave by: a WebSocket of its own, an event stream, or a channel of another protocol.
package protocol ConversationSink: AnyObject {
    func send(_ event: ConversationEvent)
    func send(_ heard: HeardMessages)
    /// ``ConversationSubscriber/drained()`` is to be called once the peer has what was sent.
    func reportDrain()
    /// ``ConversationSubscriber/hasTurn()`` is to be called once a page may be read for it. There is one turn at a time.
    func awaitTurn()
    /// What was read is sent, or there was nothing.
    func endTurn()
    /// What ``ConversationSubscriber/awaitCatchUp()`` was about is sent.
    func caughtUp()
    /// Whether its address may have so many messages more kept.
    func admits(messages count: Int) -> Bool
    /// Whether it is told who is there.
    var wantsPresence: Bool { get }
    /// Also that it is there alone.
    var wantsPresenceAlone: Bool { get }
    /// The subscriber breaks the rules, or is not to be here any more.
    func end(_ cause: ConversationSinkEnd)
}

extension ConversationSink {
    package func caughtUp() {}
    package var wantsPresenceAlone: Bool { false }
}

/// Who sends for one subscriber alone has it read whenever it can.
package protocol ExclusiveConversationSink: ConversationSink {
    var subscriber: ConversationSubscriber? { get }
}

extension ExclusiveConversationSink {
    package func awaitTurn() { subscriber?.hasTurn() }
    package func endTurn() {}
}

package enum ConversationSinkEnd {
    /// More messages wait than may.
    case tooFast
    /// Its device was erased.
    case erased
    /// Its ticket is over.
    case expired
}
