import Domain
import FoundationEssentials
import Server
import Wire

/// The presenter's keys in a request: from `Authorization: Bearer` or from cookies.
struct PresenterCredentials: Sendable {
    /// The maximum number of keys in one request. A browser sends the keys of all its sessions.
    private static let limit = 128
    private static let cookiePrefix = "presenter-"

    private let keys: [PresenterKey]

    /// - Parameter acceptsCookies: Whether keys in cookies are valid. Only a page of this server may send them.
    init(_ request: Request, acceptsCookies: Bool) {
        var keys = Self.bearer(of: request).map { [$0] } ?? []
        if acceptsCookies { keys += Self.cookies(of: request) }
        self.keys = Array(keys.prefix(Self.limit))
    }

    /// Returns the keys of a request that changes something. Cookies are valid only if the request has an `Origin`, as
    /// browsers send. Other origins were already refused.
    static func ofWrite(_ request: Request) -> PresenterCredentials {
        PresenterCredentials(request, acceptsCookies: request.head.headers.contains("Origin"))
    }

    func digests() throws -> [PresenterKeyDigest] {
        try keys.map { try $0.digest() }
    }

    static func bearer(of request: Request) -> PresenterKey? {
        guard let value = request.head.headers.value("Authorization") else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return PresenterKey(text: String(parts[1].drop { $0 == " " }))
    }

    private static func cookies(of request: Request) -> [PresenterKey] {
        request.head.headers.values("Cookie").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].hasPrefix(cookiePrefix) else { return nil }
            return PresenterKey(text: String(parts[1]))
        }
    }

    /// Returns the cookie with a session's key. Only this server's pages send it, and scripts can't read it.
    static func cookie(_ key: PresenterKey, of session: UUID, isSecure: Bool) -> HTTPField {
        HTTPField(
            "Set-Cookie",
            "\(cookiePrefix)\(session.text)=\(key.text); Path=/questions; HttpOnly; SameSite=Lax"
                + (isSecure ? "; Secure" : ""))
    }
}
