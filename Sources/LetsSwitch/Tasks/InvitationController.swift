import Scheduling
import Server

/// What an invitation is to: `GET /invitations/{token}`. It is accepted in ``TaskController``, as a task is registered.
struct InvitationController: RouteCollection, Sendable {
    let store: InvitationStore

    func boot(routes: RoutesBuilder) {
        routes.get("invitations", ":token", as: InvitationDescriptions.read, use: read)
    }

    @Sendable private func read(_ request: Request) async throws -> Response {
        let token = try InvitationToken(path: request.parameters["token"] ?? "")
        return .json(try await store.read(token).json)
    }
}
