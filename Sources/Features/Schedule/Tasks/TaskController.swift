import Domain
import FoundationEssentials
import Observability
import Server
import Wire

/// Registers, cancels and moves tasks: `POST /task`, `POST /task/delete`, `DELETE /task/{id}`, `POST /task/{id}/move`.
struct TaskController: RouteCollection {
    let store: ScheduleStore
    let partners: PartnerStore
    /// The public address of this server, without a slash at the end. `nil` if it isn't configured.
    let publicURL: String?
    let zones: TimeZoneDirectory
    let news: TaskNews

    func boot(routes: RoutesBuilder) {
        routes.post("task", as: TaskDescriptions.register, registers: true, use: register)
        routes.post("task", "delete", as: TaskDescriptions.cancelBySlot, use: cancelBySlot)
        routes.delete("task", ":id", as: TaskDescriptions.cancelByID, use: cancelByID)
        routes.post("task", ":id", "move", as: TaskDescriptions.move, registers: true, use: move)
    }

    @Sendable private func register(_ request: Request) async throws -> Response {
        let asked = try TaskRequest.decode(request.body, zones: await zones.names())
        try await news.plan.checkWorking()
        let outcome = try await store.register(asked)
        // After the start, a retitled task with a partner means that the repeated request has found this partner.
        if case .retitled(let task, _) = outcome, task.isPaired,
            Double(task.startsAt.seconds) <= Date().timeIntervalSince1970
        {
            news.metrics.pairs.add()
        }
        let (task, isNew) = try await news.registered(outcome)
        return .json(task.json(publicURL: publicURL), status: isNew ? .created : .ok)
    }

    @Sendable private func cancelBySlot(_ request: Request) async throws -> Response {
        try await cancel(try CancelRequest.decode(request.body, zones: await zones.names()))
    }

    @Sendable private func cancelByID(_ request: Request) async throws -> Response {
        let task = try request.ownTask(of: request.query("deviceId"))
        guard request.query("leave") == "true" else { return try await cancel(.task(task)) }
        return .json(try await news.partnerChanged(try await partners.leave(task), as: .left).json)
    }

    @Sendable private func move(_ request: Request) async throws -> Response {
        let asked = try MoveRequest.decode(id: request.pathID, request.body, zones: await zones.names())
        try await news.plan.checkWorking()
        return .json(try await news.partnerChanged(try await partners.move(asked), as: .moved).json)
    }

    private func cancel(_ cancellation: CancelRequest) async throws -> Response {
        .json(try await news.cancelled(try await store.cancel(cancellation)).json)
    }
}
