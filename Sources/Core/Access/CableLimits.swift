/// What a connection of Action Cable may take.
package struct CableLimits: Sendable, Hashable {
    /// Subscriptions that a connection may have, also of one room or session, in which each is a place; more are rejected.
    package var subscriptions = 100
    /// A client's message in bytes; a longer one ends the connection with 1009.
    package var messageBytes = SocketLimits.messageBytes
    /// Messages of one device a second, on whatever connections; 0 sets no limit.
    package var messageRate = 20
    /// How many of them may come at once, after a pause.
    package var messageBurst: Int { 10 * messageRate }

    package init() {}

    /// Commands that may wait: for the welcome, or for those before them.
    package static let waitingCommands = 64
    /// Bytes of what they say.
    package static let waitingBytes = 65_536
    /// A frame's payload to a client in bytes: what Apple's and Vapor's clients take.
    package static let framePayload = 16_384
    /// Bytes that wait for the peer from which on a backlog waits for it, too.
    package static let backlogBytes = 16_384
    /// Ales of a kind that may wait for a peer to take what it was sent: what one sender may say at once.
    package static let waitingAles = 2_000
    /// Changes of a session of questions that may wait for the same, each of many questions: at their pace those of some seconds.
    package static let waitingPublications = 16
    /// Between a confirmation and what follows it.
    package static let confirmPause = Duration.milliseconds(50)
    /// Between two attempts at what the database is needed for.
    package static let retryPause = Duration.seconds(1)
    /// After a session of the extended protocol has begun anew, until its subscriptions go on without a word of the client.
    package static let restorePause = Duration.seconds(10)
    /// How long a session is remembered whose connection is lost, and how much of all of them: bytes of identifiers.
    package static let sessionPatience = Duration.seconds(300)
    package static let sessionBytes = 16_777_216
    /// Between two pings.
    package static let pingInterval = Duration.seconds(3)
}
