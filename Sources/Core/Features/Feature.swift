package import ActionCable
package import Basics
package import CEmbedded
package import Domain
package import Observability
package import Server

/// A part of the product: questions, conversations, and so on. The daemon is a list of features.
///
/// A feature is created before the database is ready. Most members have a default, so that a feature declares only what it
/// has.
package protocol Feature: Sendable {
    /// The names of the feature's database statements, for metrics.
    static var statementNames: [String] { get }
    /// The PostgreSQL channels (the names in `NOTIFY`) that the feature listens to.
    static var notificationChannels: [String] { get }
    /// The feature's tables and database functions. `nil`: it has none.
    static var schema: FeatureSchema? { get }
    /// The JSON Schemas of the feature's messages.
    static var messages: FeatureMessages { get }
    /// Examples of the feature's answers and errors: a file with a name, a status and a JSON body on each line. `nil`: the
    /// feature has no routes.
    static var examples: EmbeddedFile? { get }

    /// The feature's routes.
    var routes: [any RouteCollection] { get }
    /// The feature's Action Cable channels.
    var channels: [any CableChannel] { get }
    /// The feature's background work. Services are started in this order and stopped in reverse.
    var services: [any Service] { get }

    /// Registers this daemon's part of the feature in the database, before the first request is answered.
    func enter() async throws
    /// Handles a notification from one of ``notificationChannels``. Must return at once. Any user of the database can send
    /// one, so the payload can be anything.
    func receive(_ payload: String, from channel: String)
    /// Reads again what may have changed without a notification, because the connection for notifications is new.
    func resynchronise()
    /// The connection for notifications was lost. ``resynchronise()`` follows when it works again.
    func notificationsLost()
    /// Writes again what other daemons may have deleted while they considered this daemon dead.
    func writeAgain() async
    /// Ends the connections and subscriptions of a device whose data was erased.
    func disconnect(_ device: DeviceID)

    /// Adds the feature's counters to the page of metrics.
    func writeMetrics(to text: inout MetricsText)
    /// The numbers of connections and requests refused because a limit was reached. Each has the label `cause`.
    var turnedAway: [MetricSample<Int>] { get }
}

extension Feature {
    package static var notificationChannels: [String] { [] }
    package static var schema: FeatureSchema? { nil }
    package static var messages: FeatureMessages { FeatureMessages() }
    package static var examples: EmbeddedFile? { nil }

    package var routes: [any RouteCollection] { [] }
    package var channels: [any CableChannel] { [] }
    package var services: [any Service] { [] }

    package func enter() async throws {}
    package func receive(_ payload: String, from channel: String) {}
    package func resynchronise() {}
    package func notificationsLost() {}
    package func writeAgain() async {}
    package func disconnect(_ device: DeviceID) {}

    package func writeMetrics(to text: inout MetricsText) {}
    package var turnedAway: [MetricSample<Int>] { [] }
}
