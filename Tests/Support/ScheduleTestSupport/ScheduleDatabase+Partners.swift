import Domain
package import FoundationEssentials
import Postgres
package import Schedule

extension ScheduleDatabase {
    package var partners: PartnerStore { PartnerStore(database: client, settings: ScheduleSettings()) }

    package func leave(_ device: String, _ task: UUID) async throws -> PartingOutcome {
        try await partners.leave(OwnTask(id: task, device: DeviceID(stored: device)))
    }

    package func move(_ device: String, _ task: UUID, to startsAt: String) async throws -> PartingOutcome {
        let slot = try Self.request(device, startsAt, "", zone: "UTC").slot
        return try await partners.move(MoveRequest(task: OwnTask(id: task, device: slot.device), slot: slot.slot))
    }

    /// Returns the device's task in a slot. It repeats the registration with the same title, which changes nothing
    /// before the start.
    package func own(_ device: String, _ startsAt: String) async throws -> TaskResponse? {
        let title = try await run(
            "SELECT title FROM schedule.task WHERE device_id = '\(device)' AND starts_at = '\(startsAt)'"
        ).first?.string("title")
        guard let title else { return nil }
        return try await register(device, startsAt, title).task
    }
}

extension PartingOutcome {
    package var task: TaskResponse? {
        switch self {
        case .done(let task, _, _), .unchanged(let task): task
        case .refused: nil
        }
    }

    package var changes: [ScheduleChange] {
        if case .done(_, let changes, _) = self { changes } else { [] }
    }

    package var code: String {
        switch self {
        case .done: "done"
        case .unchanged: "unchanged"
        case .refused(let error): error.code
        }
    }
}
