package import Basics
package import Rooms
package import Server
package import Wire

/// The transport of a subscriber: its own WebSocket, or a channel of another protocol.
package protocol QuestionTransport: AnyObject {
    /// The WebSocket, if it is the subscriber's own.
    var webSocket: WebSocket? { get }
    /// The sender through which the subscriber enters the session's room, if the connection can be in several sessions.
    /// `nil` for a WebSocket of one session.
    var sender: Sender? { get }
    /// The network of the peer's address, whose share of places and rates is limited. `nil` if limits don't apply to
    /// it.
    var network: IPAddress? { get }
    /// Whether a live subscriber receives the number of people.
    var wantsPresence: Bool { get }
    /// The client, for tasks that work for it. `nil` if limits don't apply to it.
    var requester: Requester? { get }
    /// Counts a message that would be stored. Returns whether the rate of the peer's address allows it.
    func admitsMessage() -> Bool
    func send(_ event: QuestionEvent)
    /// Sends the number of people in the session.
    func send(presence count: Int, _ shared: Publication)
    /// Sends one of a publication's announcements.
    func send(announcement index: Int, of published: PublishedQuestions)
    /// Sends all changes of a publication.
    func send(_ published: PublishedQuestions, forPresenter: Bool)
    /// Requests a call of ``QuestionSubscriber/drained()`` when the peer has received everything that was sent.
    func reportDrain()
    /// Requests a call of ``QuestionSubscriber/hasTurn()`` when a page of the list may be read.
    func awaitTurn()
    /// Reports that the peer has received the page.
    func endTurn()
    /// Ends the transport, because the subscriber broke a limit or must leave.
    func end(_ code: QuestionSubscriber.End)
}

/// The defaults for requirements that only some transports have.
extension QuestionTransport {
    package var webSocket: WebSocket? { nil }
    package var sender: Sender? { nil }
    package var network: IPAddress? { nil }
}
