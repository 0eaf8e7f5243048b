/// What holds on all sockets by which a device says something that is stored: of questions, of conversations, of Action Cable.
package enum SocketLimits {
    /// A client's message in bytes; a longer one ends the connection with 1009. Action Cable's may be set.
    package static let messageBytes = 32_768
    /// Messages of one peer that wait for the database: as many as may be said at once.
    package static let waitingMessages = 200
}
