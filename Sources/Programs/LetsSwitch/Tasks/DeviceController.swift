import Domain
import LiveSchedule
import Observability
import Scheduling
import Server
import Wire

/// Erases a device: `DELETE /device`.
struct DeviceController: RouteCollection, Sendable {
    let eraser: DeviceEraser

    func boot(routes: RoutesBuilder) {
        routes.delete("device", as: TaskDescriptions.erase, use: erase)
    }

    @Sendable private func erase(_ request: Request) async throws -> Response {
        try await eraser.erase(try DeviceID(request.query("deviceId")))
        return .json(Array("{}".utf8))
    }
}

/// Erases a device, for every caller.
struct DeviceEraser: Sendable {
    let store: ErasureStore
    let changes: ScheduleChanges
    let erasures: ErasureWorker
    let log: Log
    /// Called with a device that was erased.
    let erased: @Sendable (DeviceID) -> Void

    func erase(_ device: DeviceID) async throws {
        let step = try await store.erase(device)
        if step.hasMore { erasures.wake() }
        await changes.publish(step.slots)
        erased(device)
        log.info("device erased", ["device": .device(device)])
    }
}
