#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An answer that says no.
///
/// ```swift
/// } catch ClientError.refused(let refusal) {
///     print(refusal.code ?? "", refusal.reason ?? "")  // no_such_room There is no such room.
/// }
/// ```
public struct ServerRefusal: Sendable, Hashable, CustomStringConvertible {
    /// The HTTP status: `refusal.status == 404`
    public let status: Int
    /// What programs go by: `refusal.code == "room_not_open"`
    public let code: String?
    /// A sentence for people: `print(refusal.reason ?? "")`
    public let reason: String?
    /// When it may be asked again, at the earliest: `refusal.retryAfter ?? .seconds(30)`
    public let retryAfter: Duration?
    /// When the room opens, of one that isn't open yet: `refusal.opensAt.map { print($0) }`
    public let opensAt: Date?

    init(status: Int, code: String? = nil, reason: String? = nil, retryAfter: Duration? = nil, opensAt: Date? = nil) {
        self.status = status
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.opensAt = opensAt
    }

    /// The server's sentence, or the status: `print(refusal)`
    public var description: String { reason ?? "the server answered \(status)" }

    private struct Body: Decodable {
        let code: String?
        let reason: String?
        let opensAt: String?
    }

    /// Of a response. Only whole seconds of `Retry-After` are understood (RFC 9110 §10.2.3): dates would need a clock that agrees.
    init(_ response: ClientResponse) {
        let body = try? JSONDecoder().decode(Body.self, from: Data(response.body))
        let seconds = response.value("retry-after").flatMap { Int($0) }
        self.init(
            status: response.status, code: body?.code, reason: body?.reason,
            retryAfter: seconds.map { .seconds(min(max($0, 0), Self.longestWait)) },
            opensAt: body?.opensAt.flatMap { WireDate.date($0) })
    }

    /// A day: whoever is told to come later than that asks in between.
    private static let longestWait = 86_400
}
