/// The limits of an Action Cable connection.
package struct CableLimits: Sendable, Hashable {
    /// The maximum number of subscriptions of a connection. Further ones are rejected.
    package var subscriptions = 100
    /// The maximum size of a client's message in bytes. A longer one closes the connection with 1009.
    package var messageBytes = SocketLimits.messageBytes
    /// The maximum number of messages of one device per second, over all its connections; 0 sets no limit.
    package var messageRate = 20
    /// The number of messages that a device may send at once after a pause.
    package var messageBurst: Int { 10 * messageRate }

    package init() {}

    /// The maximum number of waiting commands, before the welcome or behind other commands.
    package static let waitingCommands = 64
    /// The maximum size of waiting commands in bytes.
    package static let waitingBytes = 65_536
    /// The maximum payload of a frame to a client in bytes, which the clients of Apple and Vapor accept.
    package static let framePayload = 16_384
    /// The backlogs of a connection wait while it has at least this number of unsent bytes.
    package static let backlogBytes = 16_384
    /// The maximum number of ales of a kind that wait for a slow peer: the burst of one sender.
    package static let waitingAles = 2_000
    /// The maximum number of changes of a question session that wait for a slow peer. A change may contain many
    /// questions. A busy session makes this number of changes in some seconds.
    package static let waitingPublications = 16
    /// The pause between a confirmation and the next message.
    package static let confirmPause = Duration.milliseconds(50)
    /// The pause between two attempts of a database operation.
    package static let retryPause = Duration.seconds(1)
    /// The time after which restored subscriptions of a session continue without a message from the client.
    package static let restorePause = Duration.seconds(10)
    /// How long the session of a lost connection is kept.
    package static let sessionPatience = Duration.seconds(300)
    /// The maximum size of the identifiers of all sessions together, in bytes.
    package static let sessionBytes = 16_777_216
    /// The interval of pings.
    package static let pingInterval = Duration.seconds(3)
}
