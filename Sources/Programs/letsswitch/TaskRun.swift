import Glibc
import LetsSwitchClient

/// The commands `promise`, `accept`, `cancel` and `leave`.
struct TaskRun {
    let parsed: ParsedCommand
    let output: Output
    private let local = LocalZone(environment: Environment.value)

    init(parsed: ParsedCommand, output: Output) {
        self.parsed = parsed
        self.output = output
    }

    func promise(_ title: String, _ at: WallTime, _ isInviting: Bool) async throws {
        let client = try parsed.client()
        let (start, zone) = try written(at)
        let registered = try await client.register(title, at: start, timeZone: zone, isInviting: isInviting)
        try output.writeObject(registered.source, text(registered))
    }

    func accept(_ invitation: String, _ title: String) async throws {
        let client = try parsed.client()
        let registered = try await client.accept(invitation, title, timeZone: zone())
        try output.writeObject(registered.source, text(registered))
    }

    func cancel(_ task: ParsedCommand.CancelledTask) async throws {
        let client = try parsed.client()
        let registered: RegisteredTask
        switch task {
        case .id(let id): registered = try await client.cancel(taskID: id)
        case .at(let time):
            let (start, zone) = try written(time)
            registered = try await client.cancel(at: start, timeZone: zone)
        }
        try output.writeObject(
            registered.source, "\(Output.inLine(registered.title)) at \(registered.startTime) is cancelled.")
    }

    func leave(_ task: String) async throws {
        let registered = try await parsed.client().leave(taskID: task)
        let notice = registered.partnerTitle == nil ? "" : " Your partner is notified."
        try output.writeObject(
            registered.source, "\(Output.inLine(registered.title)) at \(registered.startTime) is cancelled.\(notice)")
    }

    private func zone() throws(UsageError) -> String {
        if let zone = parsed.zone { return zone }
        return try local.name()
    }

    /// Returns a start in the form that the server reads, with its zone.
    private func written(_ time: WallTime) throws(UsageError) -> (WrittenTime, zone: String) {
        let zone = try zone()
        switch time {
        case .instant(let text): return (.instant(text), zone)
        case .clock(let text, let seconds):
            let zone = try local.spelling(of: zone)
            return (.clock(day: WallTime.day(of: seconds, zone: zone, now: Glibc.time(nil)), time: text), zone)
        }
    }

    func text(_ registered: RegisteredTask) -> String {
        let title = registered.partnerTitle.map(Output.inLine)
        let partner = title.map { "Your partner starts \($0)." } ?? "You have no partner yet."
        // A server without a public address returns only the path.
        let invitation = registered.invitation.map { link in
            "\nThe first person to accept this link becomes your partner:  \(link.hasPrefix("/") ? parsed.server.description : "")\(link)"
        }
        return """
            \(Output.inLine(registered.title)) at \(registered.startTime) (\(registered.timeZone)). \(partner)
            task \(registered.id)
            room \(registered.roomID)\(invitation ?? "")
            """
    }
}
