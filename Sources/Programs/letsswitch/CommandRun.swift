import FoundationEssentials
import Glibc
import LetsSwitchClient

/// Performs the command of an invocation.
struct CommandRun {
    private let parsed: ParsedCommand
    private let output: Output

    init(_ parsed: ParsedCommand, output: Output) {
        self.parsed = parsed
        self.output = output
    }

    func perform() async -> ExitCode {
        do {
            try await perform(parsed.command)
            return .done
        } catch {
            // A closed pipe isn't reported, because its reader, such as `head`, has read enough.
            if (error as? OutputFailure)?.code != EPIPE { output.writeError("letsswitch: \(error)") }
            return ExitCode(error)
        }
    }

    private func perform(_ command: ParsedCommand.Command) async throws {
        switch command {
        case .help: try output.write(Help.text)
        case .promise(let title, let at, let isInviting): try await tasks.promise(title, at, isInviting)
        case .accept(let invitation, let title): try await tasks.accept(invitation, title)
        case .prefer(let task): try await preferences().add(task)
        case .preferences: try await preferences().list()
        case .unprefer(let preference): try await preferences().remove(preference)
        case .cancel(let task): try await tasks.cancel(task)
        case .watch: try await ReminderRun(client: try parsed.client(), output: output).watch()
        case .leave(let task): try await tasks.leave(task)
        case .join(let room): try await RoomRun(try Self.id(room), try parsed.visitor(), output).join()
        case .cheer(let room, let cheer, let times):
            try await RoomRun(try Self.id(room), parsed.anonymous, output).cheer(cheer, times)
        case .ask(let session, let content): try await questions(of: session).ask(content)
        case .listen(let session?): try await questions(of: session).listen()
        case .listen(nil): try await conversations().listen()
        case .name(let name): try await conversations().take(name)
        case .say(let names, let content): try await conversations().send(content, to: names)
        case .history(nil, _): try await conversations().list()
        case .history(let names?, let count): try await conversations().history(with: names, count: count)
        }
    }

    private var tasks: TaskRun { TaskRun(parsed: parsed, output: output) }

    private func questions(of session: String) async throws -> QuestionRun {
        let id = try Self.id(session, "session")
        let client = try parsed.client()
        try await client.checkReachability()
        return QuestionRun(questions: client.questions(id), output: output)
    }

    private func conversations() async throws -> ConversationRun {
        let client = try parsed.client()
        try await client.checkReachability()
        return ConversationRun(conversations: client.conversations, output: output)
    }

    private func preferences() throws -> PreferenceRun {
        PreferenceRun(preferences: try parsed.client().preferences, output: output)
    }

    private static func id(_ text: String, _ what: String = "room") throws(UsageError) -> UUID {
        guard let id = UUID(uuidString: text) else {
            throw UsageError(reason: "\(text) isn't a \(what) id; a \(what) id is a UUID")
        }
        return id
    }
}
