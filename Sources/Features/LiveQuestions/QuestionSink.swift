package import Rooms
package import Server

/// What a subscriber's events leave by: a WebSocket of its own, or a channel of another protocol.
package protocol QuestionSink: AnyObject {
    /// The WebSocket, if it is the subscriber's own.
    var webSocket: WebSocket? { get }
    /// The connection in all rooms that it is in; `nil`: it is in no others.
    var sender: Sender? { get }
    /// Whether it is told how many are there, if it is live.
    var wantsPresence: Bool { get }
    /// Whether its address may have one thing more kept that it says.
    func admitsMessage() -> Bool
    func send(_ event: QuestionEvent)
    /// How many are there.
    func send(presence count: Int, _ shared: Publication)
    /// One of a publication's announcements.
    func send(announcement index: Int, of published: PublishedQuestions)
    /// Everything that has changed.
    func send(_ published: PublishedQuestions, forPresenter: Bool)
    /// ``QuestionSubscriber/drained()`` is to be called once the peer has what was sent.
    func reportDrain()
    /// ``QuestionSubscriber/hasTurn()`` is to be called once a part of the list may be read for it.
    func awaitTurn()
    /// What was read is with the peer.
    func endTurn()
    /// The subscriber breaks the rules, or is not to be here any more.
    func end(_ code: QuestionSubscriber.End)
}

/// Who comes by a WebSocket has that; who comes otherwise may be in other rooms.
extension QuestionSink {
    package var webSocket: WebSocket? { nil }
    package var sender: Sender? { nil }
}
