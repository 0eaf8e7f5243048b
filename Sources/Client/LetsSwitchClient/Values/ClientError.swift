/// An error of the client.
///
/// ```swift
/// do {
///     try await client.cancel(task)
/// } catch ClientError.refused(let refusal) where refusal.code == "has_partner" {
///     print("The task has a partner.")
/// }
/// ```
public enum ClientError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text isn't the address of a server: `catch ClientError.invalidAddress(let text)`
    case invalidAddress(String)
    /// A value that can't be sent, such as an action's content that isn't a JSON object: `catch
    /// ClientError.invalidValue(let what)`
    case invalidValue(String)
    /// The server doesn't answer, or doesn't answer in time: `catch ClientError.unreachable(let why)`
    case unreachable(String)
    /// The server's certificate has another name, has expired, or isn't trusted by this system. Or the server doesn't
    /// use TLS: `catch ClientError.untrusted(let why)`
    case untrusted(String)
    /// The server refused the request: `catch ClientError.refused(let refusal)`
    case refused(ServerRefusal)
    /// The server's answer is invalid: `catch ClientError.garbled(let what)`
    case garbled(String)
    /// The connection was closed, and the client doesn't connect again. A pending ping or message isn't sent again:
    /// `catch ClientError.closed(let code, let reason)`
    case closed(CloseCode, reason: String)
    /// The server refuses this client permanently, with a reason: `catch ClientError.sentAway(let reason)`
    case sentAway(String)
    /// The server rejected the subscription of a channel: `catch ClientError.rejected`
    case rejected
    /// Too many events wait for their reader, or too many messages wait to be sent: `catch ClientError.bufferFull`
    case bufferFull
    /// The operation was cancelled, or the connection has ended: `catch ClientError.cancelled`
    case cancelled

    /// A description for people: `print(error)`
    public var description: String {
        switch self {
        case .invalidAddress(let text): "\(text) isn't a server address; an address looks like https://example.org"
        case .invalidValue(let what): "\(what) can't be sent"
        case .unreachable(let why): "the server can't be reached: \(why)"
        case .untrusted(let why): "the connection isn't secure: \(why)"
        case .refused(let refusal): refusal.description
        case .garbled(let what): "the server's answer is invalid: \(what)"
        case .closed(let code, let reason):
            "the connection was closed with code \(code)" + (reason.isEmpty ? "" : ": \(reason)")
        case .sentAway(let reason): "the server refused: \(reason)"
        case .rejected: "the server rejected the subscription"
        case .bufferFull: "too many unread events or unsent messages"
        case .cancelled: "the operation was cancelled"
        }
    }
}
