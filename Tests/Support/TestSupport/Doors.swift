/// Validators of the messages that a server sends. The tests' clients pass them each message that they read. Without a
/// validator any message is accepted.
package enum Doors {
    /// Hears one message of one connection.
    ///
    /// - Parameter event: The name of a server-sent event; `nil` of a WebSocket's message.
    package typealias Judge = @Sendable (_ event: String?, _ message: [UInt8]) -> Void

    /// The validator for the messages on this task's connections, by the target; `nil`: none.
    @TaskLocal package static var judge: (@Sendable (_ target: String) -> Judge?)?

    /// The validator for answers of 400 or more to this task's requests; `nil`: none.
    @TaskLocal package static var judgeOfRefusals: (@Sendable (_ status: Int, _ body: [UInt8]) -> Void)?
}
