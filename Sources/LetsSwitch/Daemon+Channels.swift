import Basics
import HTTPClient
import Observability

extension Daemon {
    /// A courier for each channel that is configured.
    func makeCouriers(_ database: Database) throws -> Couriers {
        if !configuration.channels.names.isEmpty, HTTPClient.isLibraryListed() == false {
            log.error("channels can't send: libcurl is missing (apt-get install libcurl4)")
        }
        return Couriers(
            couriers: try makeChannels(database).map { channel in
                Courier(channel, store: database.deliveries, log: log) { [metrics] count in
                    metrics.scheduling.reminders.add(.delivered, count)
                }
            })
    }

    func makeAttendanceWriter(_ database: Database, _ couriers: Couriers) -> AttendanceWriter {
        AttendanceWriter(store: database.deliveries, log: log) { couriers.wake(.webhook) }
    }

    private func makeChannels(_ database: Database) throws -> [any ReminderChannel] {
        var channels: [any ReminderChannel] = []
        let settings = configuration.channels
        if let webhook = WebhookChannel(settings.webhook) { channels.append(webhook) }
        if let ntfy = NtfyChannel(settings.ntfy, publicURL: settings.publicURL) { channels.append(ntfy) }
        if let apns = try APNsChannel(settings.apns) { channels.append(apns) }
        if let webPush = WebPushChannel(settings.webPush, secret: database.addresses.secret) {
            channels.append(webPush)
        }
        return channels
    }
}
