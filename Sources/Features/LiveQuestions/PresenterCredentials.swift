import Domain
import FoundationEssentials
import Messaging
import Server
import Wire

/// The presenter's keys that a request shows: as `Authorization: Bearer`, or in cookies.
struct PresenterCredentials: Sendable {
    /// Of one request, whatever it brings: a browser sends those of all its sessions.
    private static let limit = 128
    private static let cookiePrefix = "presenter-"

    private let keys: [PresenterKey]

    /// - Parameter acceptsCookies: Whether a page of ours has sent it, as far as that matters.
    init(_ request: Request, acceptsCookies: Bool) {
        var keys = Self.bearer(of: request).map { [$0] } ?? []
        if acceptsCookies { keys += Self.cookies(of: request) }
        self.keys = Array(keys.prefix(Self.limit))
    }

    /// Of what changes something: a browser always says `Origin` with it, and a foreign one was refused before.
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

    /// The field that has a browser keep the key of a session: for pages of ours alone, and for no script.
    static func cookie(_ key: PresenterKey, of session: UUID, isSecure: Bool) -> HTTPField {
        HTTPField(
            "Set-Cookie",
            "\(cookiePrefix)\(session.text)=\(key.text); Path=/questions; HttpOnly; SameSite=Lax"
                + (isSecure ? "; Secure" : ""))
    }
}
