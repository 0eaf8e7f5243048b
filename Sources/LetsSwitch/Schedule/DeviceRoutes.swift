import Domain
import Observability
import Server
import Wire

/// A device's push token, and forgetting a person: `POST /token`, `DELETE /device`.
struct DeviceRoutes: RouteCollection, Sendable {
    let database: Database
    let changes: ScheduleChanges
    let erasures: ErasureWorker
    let log: Log

    func boot(routes: RoutesBuilder) {
        routes.post("token", registers: true, use: register)
        routes.delete("device", use: erase)
    }

    @Sendable private func register(_ request: Request) async throws -> Response {
        let token = try TokenRequest.decode(request.body)
        try await database.schedule.registerToken(token)
        log.info("token registered", ["device": .device(token.device)])
        return .json(Array("{}".utf8))
    }

    @Sendable private func erase(_ request: Request) async throws -> Response {
        let device = try DeviceID(request.query("deviceId"))
        let step = try await database.schedule.erase(device)
        if step.hasMore { erasures.wake() }
        await changes.publish(step.slots)
        log.info("device erased", ["device": .device(device)])
        return .json(Array("{}".utf8))
    }
}
