import Domain
import Observability
import Scheduling
import Server
import Wire

/// Forgetting a person: `DELETE /device`.
struct DeviceController: RouteCollection, Sendable {
    let store: ErasureStore
    let changes: ScheduleChanges
    let erasures: ErasureWorker
    let log: Log

    func boot(routes: RoutesBuilder) {
        routes.delete("device", use: erase)
    }

    @Sendable private func erase(_ request: Request) async throws -> Response {
        let device = try DeviceID(request.query("deviceId"))
        let step = try await store.erase(device)
        if step.hasMore { erasures.wake() }
        await changes.publish(step.slots)
        log.info("device erased", ["device": .device(device)])
        return .json(Array("{}".utf8))
    }
}
