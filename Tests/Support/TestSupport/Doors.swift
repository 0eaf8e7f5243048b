/// Judges of what is said at a server's doors. The tests' clients show them each message that they read; servers that nobody judges say
/// what they like.
package enum Doors {
    /// Hears one message of one connection.
    ///
    /// - Parameter event: The name of a server-sent event; `nil` of a WebSocket's message.
    package typealias Judge = @Sendable (_ event: String?, _ message: [UInt8]) -> Void

    /// Who judges what is said to those who connect in this task, by the target that they ask for; `nil`: nobody.
    @TaskLocal package static var judge: (@Sendable (_ target: String) -> Judge?)?

    /// Who judges what requests of this task are answered with 400 or more; `nil`: nobody.
    @TaskLocal package static var judgeOfRefusals: (@Sendable (_ status: Int, _ body: [UInt8]) -> Void)?
}
