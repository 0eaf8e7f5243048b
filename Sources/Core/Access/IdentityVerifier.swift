package import Crypto
package import Domain
import FoundationEssentials
import Glibc
package import Wire

/// Reads a caller's identity from `?deviceId=`, or from a ticket in `?token=` or `Authorization: Bearer`. Any thread
/// may use it. Verifying takes microseconds.
///
/// Without a secret there are no tickets, and `token` is a deviceId in plain text.
package struct IdentityVerifier: Sendable {
    /// `nil` if there are no secrets, because the cryptography library takes two megabytes of memory.
    private let tickets: SharedTokens?
    private let areRequired: Bool
    /// Seconds since 1970, for the expiry of tickets.
    package let now: @Sendable () -> Double

    /// - Parameter now: Seconds since 1970.
    package init(_ settings: TicketSettings, now: @escaping @Sendable () -> Double = Self.wallClock) throws(CryptoError)
    {
        tickets = settings.secrets.isEmpty ? nil : try SharedTokens(secrets: settings.secrets.map(\.bytes))
        areRequired = settings.areRequired
        self.now = now
    }

    /// Returns the identity of a request's sender.
    ///
    /// - Parameter bearer: Whether `Authorization` may contain a ticket. On presenters' routes it contains the
    ///   session's key instead.
    package func identity(of head: HTTPRequestHead, bearer: Bool = true) throws(IdentityRefusal) -> Identity {
        let token = try token(of: head, bearer: bearer)
        var identity = Identity.none
        if let token { identity = try self.identity(token: token) }
        guard let named = head.query("deviceId") else { return identity }
        return try self.identity(identity, naming: try device(named))
    }

    /// Returns the identity of a request that names a device elsewhere, too: in its body, or in an Action Cable
    /// identifier.
    package func identity(_ identity: Identity, naming device: DeviceID) throws(IdentityRefusal) -> Identity {
        switch identity {
        case .none, .device:
            // If two places name a device in plain text, the more specific one counts.
            guard !areRequired else { throw .ticketRequired }
            return .device(device)
        case .ticket(let ticket):
            guard ticket.device == device else { throw .otherDevice }
            return identity
        }
    }

    private func token(of head: HTTPRequestHead, bearer: Bool) throws(IdentityRefusal) -> String? {
        let token = head.query("token")
        guard bearer, let inHeader = Self.bearer(of: head.headers) else { return token }
        // A request may contain only one token (RFC 6750 §2).
        guard token == nil else {
            throw .invalid(.invalid("token", "must not be given if there is an Authorization: Bearer header"))
        }
        return inHeader
    }

    private static func bearer(of headers: HTTPHeaders) -> String? {
        guard let value = headers.value("Authorization") else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        // A header with another scheme may be meant for a proxy.
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }

    /// Returns the identity of a ticket.
    func identity(token: String) throws(IdentityRefusal) -> Identity {
        guard let tickets else { return try identity(.none, naming: try device(token)) }
        do throws(JSONWebTokenFault) {
            let claims = try tickets.claims(of: token, at: now())
            guard let ticket = try? JSONDecoder().decode(Ticket.self, from: Data(claims)) else { throw .malformed }
            return .ticket(ticket)
        } catch {
            throw .badTicket(error)
        }
    }

    private func device(_ text: String) throws(IdentityRefusal) -> DeviceID {
        do throws(RequestError) {
            return try DeviceID(text)
        } catch {
            throw .invalid(error)
        }
    }

    private static func wallClock() -> Double {
        var time = timespec()
        // This clock exists on every system, so the call can't fail.
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
