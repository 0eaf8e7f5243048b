package import Domain

/// Whose day a registration or cancellation has changed: for `event: schedule` on the streams.
package struct ScheduleChange: Hashable, Sendable {
    package let startsAt: Instant
    /// The task's own device, and its partner's.
    package let devices: [DeviceID]
    /// Whether others can join the slot from now on; nil when that is as it was. A change concerns every device that
    /// has no task of its own there.
    package let slotOpened: Bool?
}
