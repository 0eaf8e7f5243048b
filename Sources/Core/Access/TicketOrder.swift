package import Crypto
package import Domain

/// An operator's order for a ticket.
package struct TicketOrder: Sendable, Equatable {
    let device: DeviceID
    let lifetime: Duration
    /// `nil` for all topics.
    let topics: [TopicPattern]?

    package init(device: DeviceID, lifetime: Duration, topics: [TopicPattern]?) {
        self.device = device
        self.lifetime = lifetime
        self.topics = topics
    }

    /// Returns the ticket as text.
    ///
    /// - Parameter now: Seconds since 1970.
    package func token(_ settings: TicketSettings, at now: Int64) throws(CryptoError) -> String {
        let expiry = Double(now) + lifetime / .seconds(1)
        let ticket = Ticket(device: device, expiry: expiry, topics: topics)
        return try SharedTokens(secrets: settings.secrets.map(\.bytes)).sign(claims: ticket.claims).text
    }
}
