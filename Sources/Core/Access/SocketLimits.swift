/// The limits of all sockets with stored messages: questions, conversations, Action Cable.
package enum SocketLimits {
    /// The maximum size of a client's message in bytes. A longer one closes the connection with 1009. Action Cable's
    /// size is configurable.
    package static let messageBytes = 32_768
    /// The maximum number of a peer's messages that wait for the database: its burst.
    package static let waitingMessages = 200
}
