import Domain
import Server
import Wire

/// Returns a device's day: `POST /schedule` in the app's format, and `GET /schedule`.
struct ScheduleController: RouteCollection {
    let store: DayStore
    let zones: TimeZoneDirectory

    func boot(routes: RoutesBuilder) {
        routes.post("schedule", as: DayDescriptions.sessions, use: sessions)
        routes.get("schedule", as: DayDescriptions.everything, use: everything)
    }

    @Sendable private func sessions(_ request: Request) async throws -> Response {
        let asked = try ScheduleRequest.decode(request.body, zones: await zones.names())
        return .json(try await day(asked, everything: false).alternatingJSON)
    }

    @Sendable private func everything(_ request: Request) async throws -> Response {
        let asked = try ScheduleRequest(
            deviceId: request.query("deviceId"), date: request.query("date"), timeZone: request.query("timeZone"),
            zones: await zones.names())
        return .json(try await day(asked, everything: true).keyedJSON)
    }

    private func day(_ request: ScheduleRequest, everything: Bool) async throws -> ScheduleResponse {
        switch try await store.day(request, everything: everything) {
        case .day(let answer): return answer
        case .refused(let error): throw error
        }
    }
}
