import Domain
import Observability
import Server
import Wire

/// Reads and accepts invitations. Accepting registers a task: `GET /invitations/{token}`, `POST /invitations/{token}`.
struct InvitationController: RouteCollection {
    let store: InvitationStore
    let schedule: ScheduleStore
    /// The public address of this server, without a slash at the end. `nil` if it isn't configured.
    let publicURL: String?
    let zones: TimeZoneDirectory
    let news: TaskNews

    func boot(routes: RoutesBuilder) {
        routes.get("invitations", ":token", as: InvitationDescriptions.read, use: read)
        routes.post("invitations", ":token", as: InvitationDescriptions.accept, registers: true, use: accept)
    }

    @Sendable private func read(_ request: Request) async throws -> Response {
        let token = try InvitationToken(path: request.parameters["token"] ?? "")
        return .json(try await store.read(token).json)
    }

    @Sendable private func accept(_ request: Request) async throws -> Response {
        let asked = try InvitationRequest.decode(
            token: request.parameters["token"] ?? "", request.body, zones: await zones.names())
        try await news.plan.checkWorking()
        let outcome = try await schedule.accept(asked)
        // A repeated request matched a task that the device already had.
        if case .retitled(let task, _) = outcome, task.isPaired { news.metrics.pairs.add() }
        let (task, isNew) = try await news.registered(outcome)
        return .json(task.json(publicURL: publicURL), status: isNew ? .created : .ok)
    }
}
