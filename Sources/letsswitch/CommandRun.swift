import FoundationEssentials
import Glibc
import LetsSwitchClient

/// Does what was asked for.
struct CommandRun {
    private let invocation: Invocation
    private let output: Output

    init(_ invocation: Invocation, output: Output) {
        self.invocation = invocation
        self.output = output
    }

    func perform() async -> ExitCode {
        do {
            try await perform(invocation.command)
            return .done
        } catch let error as UsageError {
            output.complain("letsswitch: \(error.reason)")
            return .usage
        } catch let error as ClientError {
            output.complain("letsswitch: \(error)")
            switch error {
            case .unreachable, .untrusted: return .unreachable
            case .invalidAddress, .invalidValue: return .usage
            case .refused, .garbled, .closed, .sentAway, .rejected, .bufferFull, .cancelled: return .refused
            }
        } catch let error as OutputFailure {
            // A reader that has gone, such as `head`, has what it wanted.
            if error.code != EPIPE { output.complain("letsswitch: the output: \(error.reason)") }
            return .output
        } catch {
            output.complain("letsswitch: \(error)")
            return .refused
        }
    }

    private func perform(_ command: Invocation.Command) async throws {
        switch command {
        case .help: try output.say(Help.text)
        case .promise(let title, let at, let isInviting): try await promise(title, at, isInviting)
        case .accept(let invitation, let title):
            let promise = try await client().accept(invitation, title, timeZone: zone)
            try output.tell(promise.source, text(promise))
        case .prefer(let task): try await preferences().add(task)
        case .preferences: try await preferences().list()
        case .unprefer(let preference): try await preferences().remove(preference)
        case .cancel(let task): try await cancel(task)
        case .watch: try await watch()
        case .leave(let task): try await leave(task)
        case .join(let room):
            let id = try Self.id(room)
            // Who has no id of one's own can be in a room all the same.
            let client =
                try invocation.device == nil && DeviceFile(environment: Environment.value) == nil ? nobody : client()
            try await RoomRun(id, client, output).join()
        case .cheer(let room, let cheer, let times):
            try await RoomRun(try Self.id(room), nobody, output).cheer(cheer, times)
        case .ask(let session, let content): try await questions(of: session).ask(content)
        case .listen(let session?): try await questions(of: session).listen()
        case .listen(nil): try await conversations().listen()
        case .name(let name): try await conversations().take(name)
        case .say(let names, let content): try await conversations().say(content, to: names)
        case .history(nil, _): try await conversations().list()
        case .history(let names?, let count): try await conversations().history(with: names, count: count)
        }
    }

    private func device() throws(UsageError) -> String {
        if let device = invocation.device { return device }
        guard let file = DeviceFile(environment: Environment.value) else {
            throw UsageError(reason: "neither HOME nor --device is set")
        }
        return try file.read()
    }

    private func client() throws -> LetsSwitchClient {
        LetsSwitchClient(invocation.server, deviceID: try device())
    }

    /// For what asks nobody who one is.
    private var nobody: LetsSwitchClient { LetsSwitchClient(invocation.server, deviceID: "") }

    private func questions(of session: String) async throws -> QuestionRun {
        let id = try Self.id(session, "session")
        let client = try client()
        try await client.checkReachability()
        return QuestionRun(questions: client.questions(id), output: output)
    }

    private func conversations() async throws -> ConversationRun {
        let client = try client()
        try await client.checkReachability()
        return ConversationRun(conversations: client.conversations, output: output)
    }

    private func preferences() throws -> PreferenceRun {
        PreferenceRun(preferences: try client().preferences, output: output)
    }

    private static func id(_ text: String, _ what: String = "room") throws(UsageError) -> UUID {
        guard let id = UUID(uuidString: text) else { throw UsageError(reason: "\(text) is no \(what)'s id") }
        return id
    }

    // MARK: Tasks

    private var zone: String { invocation.zone ?? WallTime.systemZone() }

    private func promise(_ title: String, _ at: WallTime, _ isInviting: Bool) async throws {
        let client = try client()
        let promise = try await client.promise(title, at: written(at), timeZone: zone, isInviting: isInviting)
        try output.tell(promise.source, text(promise))
    }

    private func cancel(_ task: Invocation.CancelledTask) async throws {
        let client = try client()
        let promise =
            switch task {
            case .id(let id): try await client.cancel(taskID: id)
            case .at(let time): try await client.cancel(at: written(time), timeZone: zone)
            }
        try output.tell(promise.source, "\(Output.inLine(promise.title)) at \(promise.startTime) is cancelled.")
    }

    private func leave(_ task: String) async throws {
        let promise = try await client().leave(taskID: task)
        try output.tell(promise.source, "\(Output.inLine(promise.title)) at \(promise.startTime) is taken back.")
    }

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

    // MARK: Reminders

    private func watch() async throws {
        let client = try client()
        try await client.checkReachability()
        for try await reminder in client.reminders {
            try output.tell(reminder.source, Self.text(reminder))
        }
    }

    static func text(_ reminder: Reminder) -> String {
        let title = Output.inLine(reminder.title)
        guard let partner = reminder.partnerTitle.map(Output.inLine), let room = reminder.roomID else {
            return "\(reminder.startTime) \(title), alone"
        }
        return "\(reminder.startTime) \(title); somebody starts \(partner): letsswitch join \(room)"
    }
}
