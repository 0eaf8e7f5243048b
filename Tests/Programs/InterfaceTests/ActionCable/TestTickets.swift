import Access
import Domain
import Foundation
import Settings

/// Tickets with a daemon's own secret, or with another one.
struct TestTickets {
    static let own = TestTickets(secret: String(repeating: "s", count: 40))
    static let foreign = TestTickets(secret: String(repeating: "t", count: 40))

    let settings: TicketSettings

    private init(secret: String) {
        var settings = TicketSettings()
        settings.secrets = [TicketSecret(secret)].compactMap(\.self)
        self.settings = settings
    }

    /// Returns a ticket for Ada.
    ///
    /// - Parameters:
    ///   - topics: `nil` for all.
    ///   - lifetime: In seconds; negative for an expired ticket.
    func ticket(_ topics: [String]? = nil, lifetime: Int = 3600) throws -> String {
        let order = try TicketOrder(
            device: DeviceID("ada"), lifetime: .seconds(lifetime), topics: topics?.map(TopicPattern.init))
        return try order.token(settings, at: Int64(Date().timeIntervalSince1970))
    }
}
