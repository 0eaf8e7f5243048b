/// Why something couldn't be done.
///
/// ```swift
/// do {
///     try await client.cancel(promise)
/// } catch ClientError.refused(let refusal) where refusal.code == "has_partner" {
///     print("Somebody counts on you.")
/// }
/// ```
public enum ClientError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text is no server's address: `catch ClientError.invalidAddress(let text)`
    case invalidAddress(String)
    /// A value that can't be sent, such as what a channel is told that isn't an object: `catch ClientError.invalidValue(let what)`
    case invalidValue(String)
    /// Nobody answers there, or not in time: `catch ClientError.unreachable(let why)`
    case unreachable(String)
    /// The server's certificate isn't for that name, is too old, or comes from nobody whom this system believes; or TLS isn't
    /// spoken there: `catch ClientError.untrusted(let why)`
    case untrusted(String)
    /// The server said no: `catch ClientError.refused(let refusal)`
    case refused(ServerRefusal)
    /// What came is not what this server says: `catch ClientError.garbled(let what)`
    case garbled(String)
    /// The connection was closed. A stream that ends so isn't opened again; what was on its way, such as a ping, isn't sent again:
    /// `catch ClientError.closed(let code, let reason)`
    case closed(CloseCode, reason: String)
    /// The server sends this client away for good, with its reason: `catch ClientError.sentAway(let reason)`
    case sentAway(String)
    /// The channel isn't for this client: `catch ClientError.rejected`
    case rejected
    /// More came, or was to go, than is kept: `catch ClientError.bufferFull`
    case bufferFull
    /// It was cancelled, or has ended: `catch ClientError.cancelled`
    case cancelled

    /// A sentence for people: `print(error)`
    public var description: String {
        switch self {
        case .invalidAddress(let text): "\(text) is no server's address"
        case .invalidValue(let what): "\(what) can't be sent"
        case .unreachable(let why): "the server can't be reached: \(why)"
        case .untrusted(let why): "the connection isn't secure: \(why)"
        case .refused(let refusal): refusal.description
        case .garbled(let what): "the server's answer makes no sense: \(what)"
        case .closed(let code, let reason): reason.isEmpty ? "closed with \(code)" : "closed with \(code): \(reason)"
        case .sentAway(let reason): "the server sends us away: \(reason)"
        case .rejected: "the channel isn't for us"
        case .bufferFull: "more came than was read"
        case .cancelled: "cancelled"
        }
    }
}
