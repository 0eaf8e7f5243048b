import Observability
import Server

/// How people say where they are reached: what each channel has a route for, and the calendar.
struct ChannelRoutes: RouteCollection, Sendable {
    private let settings: ChannelSettings
    private let database: Database
    private let log: Log

    init(_ settings: ChannelSettings, database: Database, log: Log) {
        (self.settings, self.database, self.log) = (settings, database, log)
    }

    func boot(routes: RoutesBuilder) {
        if let server = settings.ntfy.server {
            routes.register(collection: NtfyRoutes(server: server, addresses: database.addresses, log: log))
        }
        routes.register(collection: WebPushRoutes(settings.webPush, store: database.addresses, log: log))
        routes.register(
            collection: CalendarRoutes(store: database.calendars, publicURL: settings.publicURL, log: log))
    }
}
