import ActionCable
import Control
import Daemons
import Domain
import Features
import Observability
import Postgres

/// Passes PostgreSQL's notifications to the features and to the parts that all features share.
struct NotificationDispatch: Sendable {
    /// Returns the NOTIFY channels that a daemon with these features reads. Other programs may use the same channels.
    static func channels(of features: [any Feature.Type]) -> [String] {
        features.flatMap { $0.notificationChannels }
            + [DaemonStore.channel, ErasureStore.channel, ConnectionKicks.channel]
    }

    let features: [any Feature]
    let bus: BusService
    let kicks: ConnectionKicks
    let connections: DaemonConnections
    let log: Log

    @Sendable func receive(_ event: PostgresListenerEvent) {
        switch event {
        case .listening:
            Task { await bus.lookAgain() }
            for feature in features { feature.resynchronise() }
        case .notification(DaemonStore.channel, let payload):
            Task { await bus.lookAgain(of: payload) }
        case .notification(ErasureStore.channel, let payload):
            connections.disconnect(DeviceID(stored: payload))
        case .notification(ConnectionKicks.channel, let payload):
            Task { await kicks.receive(payload) }
        case .notification(let channel, let payload):
            for feature in features where type(of: feature).notificationChannels.contains(channel) {
                feature.receive(payload, from: channel)
            }
        case .lost(let message):
            log.warning("lost the connection for notifications", ["error": .string(message)])
            for feature in features { feature.notificationsLost() }
        }
    }
}

/// All connections and subscriptions on this daemon.
struct DaemonConnections: DeviceConnections {
    let features: [any Feature]
    let cables: Cables

    func disconnect(_ device: DeviceID) {
        cables.disconnect(device)
        for feature in features { feature.disconnect(device) }
    }
}
