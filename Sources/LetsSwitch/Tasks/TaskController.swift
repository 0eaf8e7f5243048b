import Domain
import FoundationEssentials
import LiveSchedule
import Observability
import Scheduling
import Server
import Wire

/// Registering, cancelling and moving: `POST /task`, `POST /task/delete`, `DELETE /task/{id}`, `POST /task/{id}/move`; by an invitation:
/// `POST /invitations/{token}`.
struct TaskController: RouteCollection, Sendable {
    let store: ScheduleStore
    let partners: PartnerStore
    /// Where people find this server, without a slash at its end; nil when nobody has said.
    let publicURL: String?
    /// The zones that requests may name; throws `503` before they are known.
    let zones: @Sendable () async throws(RequestError) -> TimeZoneNames
    let changes: ScheduleChanges
    let metrics: SchedulingMetrics
    let log: Log
    /// Told when a task that has just been registered is due; epoch seconds.
    let registered: @Sendable (Double) async -> Void
    /// Called when an event was written: the webhook may be told of it.
    let eventWritten: @Sendable () -> Void

    func boot(routes: RoutesBuilder) {
        routes.post("task", as: TaskDescriptions.register, registers: true, use: register)
        routes.post("invitations", ":token", as: InvitationDescriptions.accept, registers: true, use: accept)
        routes.post("task", "delete", as: TaskDescriptions.cancelBySlot, use: cancelBySlot)
        routes.delete("task", ":id", as: TaskDescriptions.cancelByID, use: cancelByID)
        routes.post("task", ":id", "move", as: TaskDescriptions.move, registers: true, use: move)
    }

    @Sendable private func register(_ request: Request) async throws -> Response {
        let outcome = try await store.register(try TaskRequest.decode(request.body, zones: await zones()))
        // After the start nothing is only called something else: whoever asked again has found somebody.
        if case .retitled(let task, _) = outcome, task.isPaired,
            Double(task.startsAt.seconds) <= Date().timeIntervalSince1970
        {
            metrics.pairs.add()
        }
        return try await answer(outcome)
    }

    @Sendable private func accept(_ request: Request) async throws -> Response {
        let asked = try InvitationRequest.decode(
            token: request.parameters["token"] ?? "", request.body, zones: await zones())
        let outcome = try await store.accept(asked)
        // What the device had promised already has a partner now.
        if case .retitled(let task, _) = outcome, task.isPaired { metrics.pairs.add() }
        return try await answer(outcome)
    }

    private func answer(_ outcome: RegistrationOutcome) async throws -> Response {
        switch outcome {
        case .created(let task, let change):
            metrics.tasks.add(.registered)
            if task.isPaired { metrics.pairs.add() }
            await registered(Double(task.remindsAt.seconds))
            eventWritten()
            await changes.publish(change)
            log.info("task registered", describe(task))
            return .json(task.json(publicURL: publicURL), status: .created)
        case .repeated(let task):
            metrics.tasks.add(.repeated)
            return .json(task.json(publicURL: publicURL))
        case .retitled(let task, let change):
            metrics.tasks.add(.retitled)
            eventWritten()
            await changes.publish(change)
            log.info("task retitled", describe(task))
            return .json(task.json(publicURL: publicURL))
        case .refused(let error):
            metrics.tasks.add(.refused)
            throw error
        }
    }

    @Sendable private func cancelBySlot(_ request: Request) async throws -> Response {
        try await cancel(try CancelRequest.decode(request.body, zones: await zones()))
    }

    @Sendable private func cancelByID(_ request: Request) async throws -> Response {
        let task = try OwnTask(id: request.parameters["id"] ?? "", deviceId: request.query("deviceId"))
        guard request.query("leave") == "true" else { return try await cancel(.task(task)) }
        return try await answer(try await partners.leave(task), as: .left)
    }

    @Sendable private func move(_ request: Request) async throws -> Response {
        let asked = try MoveRequest.decode(
            id: request.parameters["id"] ?? "", request.body, zones: await zones())
        return try await answer(try await partners.move(asked), as: .moved)
    }

    /// Whoever was counted on doesn't come, or at another time.
    private func answer(_ outcome: PartingOutcome, as done: SchedulingMetrics.TaskOutcome) async throws -> Response {
        switch outcome {
        // Whose day has changed, every daemon is told with the commit.
        case .done(let task, _, let newMatches):
            metrics.tasks.add(done)
            metrics.pairs.add(newMatches)
            if done == .moved { await registered(Double(task.remindsAt.seconds)) }
            eventWritten()
            log.info("task \(done.rawValue)", describe(task))
            return .json(task.json)
        case .unchanged(let task):
            metrics.tasks.add(.repeated)
            return .json(task.json)
        case .refused(let error):
            metrics.tasks.add(.refused)
            throw error
        }
    }

    private func cancel(_ cancellation: CancelRequest) async throws -> Response {
        switch try await store.cancel(cancellation) {
        case .cancelled(let task, let change):
            metrics.tasks.add(.cancelled)
            eventWritten()
            await changes.publish(change)
            log.info("task cancelled", describe(task))
            return .json(task.json)
        case .refused(let error):
            metrics.tasks.add(.refused)
            throw error
        }
    }

    private func describe(_ task: TaskResponse) -> Log.Values {
        [
            "taskId": .string(task.id.text), "device": .device(task.device),
            "startsAt": .string("\(task.startsAt)"), "paired": .bool(task.isPaired),
        ]
    }
}
