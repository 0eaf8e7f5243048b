import Server
import Wire

/// A device's day: `POST /schedule` as the app decodes it, `GET /schedule` for people.
struct ScheduleRoutes: RouteCollection, Sendable {
    let database: Database

    func boot(routes: RoutesBuilder) {
        routes.post("schedule", use: sessions)
        routes.get("schedule", use: everything)
    }

    @Sendable private func sessions(_ request: Request) async throws -> Response {
        let wish = try ScheduleRequest.decode(request.body, zones: await database.timeZoneNames())
        return .json(try await day(wish, everything: false).alternatingJSON)
    }

    @Sendable private func everything(_ request: Request) async throws -> Response {
        let wish = try ScheduleRequest(
            deviceId: request.query("deviceId"), date: request.query("date"), timeZone: request.query("timeZone"),
            zones: await database.timeZoneNames())
        return .json(try await day(wish, everything: true).keyedJSON)
    }

    private func day(_ wish: ScheduleRequest, everything: Bool) async throws -> ScheduleAnswer {
        switch try await database.schedule.day(wish, everything: everything) {
        case .day(let answer): return answer
        case .refused(let error): throw error
        }
    }
}
