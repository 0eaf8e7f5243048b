/// Validators of the messages that a server sends. The tests' clients pass them each message that they read. Without a
/// validator any message is accepted.
package enum MessageValidation {
    /// Validates one message of one connection.
    ///
    /// - Parameter event: The name of a server-sent event; `nil` for a WebSocket's message.
    package typealias Validator = @Sendable (_ event: String?, _ message: [UInt8]) -> Void

    /// Returns the validator for the messages on this task's connections with a target. `nil` if they aren't validated.
    @TaskLocal package static var validator: (@Sendable (_ target: String) -> Validator?)?

    /// Validates answers of 400 or more to this task's requests. `nil` if they aren't validated.
    @TaskLocal package static var refusalValidator: (@Sendable (_ status: Int, _ body: [UInt8]) -> Void)?
}
