import Glibc
import LetsSwitchClient

/// The commands `promise`, `accept`, `cancel` and `leave`.
struct TaskRun {
    let invocation: Invocation
    let output: Output
    private let local = LocalZone(environment: Environment.value)

    init(invocation: Invocation, output: Output) {
        self.invocation = invocation
        self.output = output
    }

    func promise(_ title: String, _ at: WallTime, _ isInviting: Bool) async throws {
        let client = try invocation.client()
        let (start, zone) = try written(at)
        let promise = try await client.promise(title, at: start, timeZone: zone, isInviting: isInviting)
        try output.tell(promise.source, text(promise))
    }

    func accept(_ invitation: String, _ title: String) async throws {
        let client = try invocation.client()
        let promise = try await client.accept(invitation, title, timeZone: zone())
        try output.tell(promise.source, text(promise))
    }

    func cancel(_ task: Invocation.CancelledTask) async throws {
        let client = try invocation.client()
        let promise: TaskPromise
        switch task {
        case .id(let id): promise = try await client.cancel(taskID: id)
        case .at(let time):
            let (start, zone) = try written(time)
            promise = try await client.cancel(at: start, timeZone: zone)
        }
        try output.tell(promise.source, "\(Output.inLine(promise.title)) at \(promise.startTime) is cancelled.")
    }

    func leave(_ task: String) async throws {
        let promise = try await invocation.client().leave(taskID: task)
        let notice = promise.partnerTitle == nil ? "" : " Your partner is notified."
        try output.tell(
            promise.source, "\(Output.inLine(promise.title)) at \(promise.startTime) is cancelled.\(notice)")
    }

    private func zone() throws(UsageError) -> String {
        if let zone = invocation.zone { return zone }
        return try local.name()
    }

    /// Returns a start as the server reads it, with its zone.
    private func written(_ time: WallTime) throws(UsageError) -> (WrittenTime, zone: String) {
        let zone = try zone()
        switch time {
        case .instant(let text): return (.instant(text), zone)
        case .clock(let text, let seconds):
            let zone = try local.spelling(of: zone)
            return (.clock(day: WallTime.day(of: seconds, zone: zone, now: Glibc.time(nil)), time: text), zone)
        }
    }

    func text(_ promise: TaskPromise) -> String {
        let title = promise.partnerTitle.map(Output.inLine)
        let partner = title.map { "Your partner starts \($0)." } ?? "You have no partner yet."
        // A server without a public address returns only the path.
        let invitation = promise.invitation.map { link in
            "\nThe first person to accept this link becomes your partner:  \(link.hasPrefix("/") ? invocation.server.description : "")\(link)"
        }
        return """
            \(Output.inLine(promise.title)) at \(promise.startTime) (\(promise.timeZone)). \(partner)
            task \(promise.id)
            room \(promise.roomID)\(invitation ?? "")
            """
    }
}
