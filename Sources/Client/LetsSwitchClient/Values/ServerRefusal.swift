#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A server's refusal of a request.
///
/// ```swift
/// } catch ClientError.refused(let refusal) {
///     print(refusal.code ?? "", refusal.reason ?? "")  // no_such_room There is no such room.
/// }
/// ```
public struct ServerRefusal: Sendable, Hashable, CustomStringConvertible {
    /// The HTTP status: `refusal.status == 404`
    public let status: Int
    /// The error code, for programs: `refusal.code == "room_not_open"`
    public let code: String?
    /// The reason, for people: `print(refusal.reason ?? "")`
    public let reason: String?
    /// The time to wait before another request: `refusal.retryAfter ?? .seconds(30)`
    public let retryAfter: Duration?
    /// The time at which the room opens, if it isn't open yet: `refusal.opensAt.map { print($0) }`
    public let opensAt: Date?

    init(status: Int, code: String? = nil, reason: String? = nil, retryAfter: Duration? = nil, opensAt: Date? = nil) {
        self.status = status
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.opensAt = opensAt
    }

    /// The server's reason, or the status: `print(refusal)`
    public var description: String { reason ?? "the server answered with status \(status)" }

    private struct Body: Decodable {
        let code: String?
        let reason: String?
        let opensAt: String?
    }

    /// Reads a response. `Retry-After` counts only if its value is in seconds (RFC 9110 §10.2.3), because a date would
    /// require synchronized clocks.
    init(_ response: ClientResponse) {
        let body = try? JSONDecoder().decode(Body.self, from: Data(response.body))
        let seconds = response.value("retry-after").flatMap { Int($0) }
        self.init(
            status: response.status, code: body?.code, reason: body?.reason,
            retryAfter: seconds.map { .seconds(min(max($0, 0), Self.longestWait)) },
            opensAt: body?.opensAt.flatMap { WireDate.date($0) })
    }

    /// The longest wait: a day, in seconds. If `Retry-After` is longer, the client asks again earlier.
    private static let longestWait = 86_400
}
