import Access
import Domain
import Foundation
import Settings

/// Tickets of a daemon's own secret, or of another's.
struct TestTickets {
    static let own = TestTickets(secret: String(repeating: "s", count: 40))
    static let foreign = TestTickets(secret: String(repeating: "t", count: 40))

    let settings: TicketSettings

    private init(secret: String) {
        var settings = TicketSettings()
        settings.secrets = [TicketSecret(secret)].compactMap(\.self)
        self.settings = settings
    }

    /// For ada.
    ///
    /// - Parameters:
    ///   - topics: `nil` for all.
    ///   - lifetime: In seconds; one that is over has less than none.
    func ticket(_ topics: [String]? = nil, lifetime: Int = 3600) throws -> String {
        let order = try TicketOrder(
            device: DeviceID("ada"), lifetime: .seconds(lifetime), topics: topics?.map(TopicPattern.init))
        return try order.token(settings, at: Int64(Date().timeIntervalSince1970))
    }
}
