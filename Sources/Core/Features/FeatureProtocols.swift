package import Domain

/// Sends the rows that a feature has written to the outbox in its transaction.
package protocol EventOutbox: Sendable {
    /// Reports that an event was committed. If a webhook is configured, it must receive the event.
    func eventWritten()
    /// Reports that deliveries to devices may have been committed.
    func deliveriesWritten()
}

/// Notifies devices that their day has changed.
package protocol DayNotifier: Sendable {
    /// Makes the devices read the slot at `start` again, on all daemons.
    func dayChanged(of devices: [DeviceID], at start: Instant) async
    /// Makes everyone who looks at these slots read them again, on all daemons.
    func slotsChanged(_ slots: [Instant]) async
}

/// The database. It may still be unavailable.
package protocol DatabaseReadiness: Sendable {
    /// Throws `503` until the schema is current, all features have entered, and the keys of rooms are known.
    func checkPrepared() async throws(RequestError)
}
