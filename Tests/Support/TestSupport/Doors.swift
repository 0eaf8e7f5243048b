/// Validators of the messages that a server sends. The tests' clients pass them each message that they read. Without a
/// validator any message is accepted.
package enum Doors {
    /// Validates one message of one connection.
    ///
    /// - Parameter event: The name of a server-sent event; `nil` for a WebSocket's message.
    package typealias Judge = @Sendable (_ event: String?, _ message: [UInt8]) -> Void

    /// Returns the validator for the messages on this task's connections with a target. `nil` if they aren't validated.
    @TaskLocal package static var judge: (@Sendable (_ target: String) -> Judge?)?

    /// Validates answers of 400 or more to this task's requests. `nil` if they aren't validated.
    @TaskLocal package static var judgeOfRefusals: (@Sendable (_ status: Int, _ body: [UInt8]) -> Void)?
}
