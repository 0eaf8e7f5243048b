import Server
import Wire

/// A device's push token, and forgetting a person: `POST /token`, `DELETE /device`.
struct DeviceRoutes: RouteCollection, Sendable {
    let database: Database
    let changes: ScheduleChanges
    let log: Log

    func boot(routes: RoutesBuilder) {
        routes.post("token", use: register)
        routes.delete("device", use: erase)
    }

    @Sendable private func register(_ request: Request) async throws -> Response {
        let token = try TokenRequest.decode(request.body)
        try await database.schedule.registerToken(token)
        log.info("token registered", ["device": .device(token.device.text)])
        return .json(Array("{}".utf8))
    }

    @Sendable private func erase(_ request: Request) async throws -> Response {
        let device = try DeviceID(request.query("deviceId"))
        await changes.publish(try await database.schedule.erase(device))
        log.info("device erased", ["device": .device(device.text)])
        return .json(Array("{}".utf8))
    }
}
