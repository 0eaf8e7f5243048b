import Glibc
import LetsSwitchClient

/// Promising to start something, and taking that back.
struct TaskRun {
    let invocation: Invocation
    let output: Output

    func promise(_ title: String, _ at: WallTime, _ isInviting: Bool) async throws {
        let client = try invocation.client()
        let promise = try await client.promise(title, at: written(at), timeZone: zone, isInviting: isInviting)
        try output.tell(promise.source, text(promise))
    }

    func accept(_ invitation: String, _ title: String) async throws {
        let client = try invocation.client()
        let promise = try await client.accept(invitation, title, timeZone: zone)
        try output.tell(promise.source, text(promise))
    }

    func cancel(_ task: Invocation.CancelledTask) async throws {
        let client = try invocation.client()
        let promise =
            switch task {
            case .id(let id): try await client.cancel(taskID: id)
            case .at(let time): try await client.cancel(at: written(time), timeZone: zone)
            }
        try output.tell(promise.source, "\(Output.inLine(promise.title)) at \(promise.startTime) is cancelled.")
    }

    func leave(_ task: String) async throws {
        let promise = try await invocation.client().leave(taskID: task)
        try output.tell(promise.source, "\(Output.inLine(promise.title)) at \(promise.startTime) is taken back.")
    }

    private var zone: String { invocation.zone ?? WallTime.systemZone() }

    private func written(_ time: WallTime) -> WrittenTime {
        switch time {
        case .instant(let text): .instant(text)
        case .clock(let text, let seconds):
            .clock(day: WallTime.day(of: seconds, zone: zone, now: Glibc.time(nil)), time: text)
        }
    }

    func text(_ promise: TaskPromise) -> String {
        let title = promise.partnerTitle.map(Output.inLine)
        let partner = title.map { "Somebody starts \($0) with you." } ?? "Nobody else yet."
        // A server that knows no address of its own gives the path alone.
        let invitation = promise.invitation.map { link in
            "\nWho accepts first is the partner: \(link.hasPrefix("/") ? invocation.server.description : "")\(link)"
        }
        return """
            \(Output.inLine(promise.title)) at \(promise.startTime) (\(promise.timeZone)). \(partner)
            task \(promise.id)
            room \(promise.roomID)\(invitation ?? "")
            """
    }
}
