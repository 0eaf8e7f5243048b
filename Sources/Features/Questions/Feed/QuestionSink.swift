package import Basics
package import Rooms
package import Server
package import Wire

/// The transport of a subscriber: its own WebSocket, or a channel of another protocol.
package protocol QuestionSink: AnyObject {
    /// The WebSocket, if it is the subscriber's own.
    var webSocket: WebSocket? { get }
    /// The connection in all rooms that it is in; `nil`: it is in no others.
    var sender: Sender? { get }
    /// The network of the peer's address, for shares of what is limited; `nil` if limits don't count it.
    var network: IPAddress? { get }
    /// Whether it gets the number of people, if it is live.
    var wantsPresence: Bool { get }
    /// The client, for tasks that work for it; `nil` if limits don't count it.
    var requester: Requester? { get }
    /// Whether its address may have one thing more kept that it says.
    func admitsMessage() -> Bool
    func send(_ event: QuestionEvent)
    /// Sends the number of people in the session.
    func send(presence count: Int, _ shared: Publication)
    /// Sends one of a publication's announcements.
    func send(announcement index: Int, of published: PublishedQuestions)
    /// Sends all changes of a publication.
    func send(_ published: PublishedQuestions, forPresenter: Bool)
    /// Asks for a call of ``QuestionSubscriber/drained()`` when the peer has received everything that was sent.
    func reportDrain()
    /// Asks for a call of ``QuestionSubscriber/hasTurn()`` when a page of the list may be read.
    func awaitTurn()
    /// Reports that the peer has received the page.
    func endTurn()
    /// Ends the transport, because the subscriber broke a rule or may not stay.
    func end(_ code: QuestionSubscriber.End)
}

/// The defaults for a WebSocket. A channel may be in several rooms.
extension QuestionSink {
    package var webSocket: WebSocket? { nil }
    package var sender: Sender? { nil }
    package var network: IPAddress? { nil }
}
