import LetsSwitchClient

/// An error in the command line.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let reason: String
    var description: String { reason }
}

/// The command, device and server of the arguments. Options and operands may come in any order.
struct ParsedCommand: Equatable {
    enum Command: Equatable {
        case help
        case promise(title: String, at: WallTime, isInviting: Bool = false)
        case accept(invitation: String, title: String)
        case cancel(CancelledTask)
        /// Cancels a task even if it has a partner.
        case leave(task: String)
        /// Prefers the partner of this task.
        case prefer(task: String)
        case preferences
        case unprefer(preference: String)
        case watch
        case join(room: String)
        case cheer(room: String, Cheer, times: Int)
        case ask(session: String, content: String)
        /// Listens to a question session, or to all conversations if the session is `nil`.
        case listen(session: String?)
        case name(String)
        case say(to: [String], content: String)
        /// Shows a conversation with these users, or lists all conversations if the users are `nil`.
        case history(with: [String]?, count: Int)
    }

    /// The task to cancel.
    enum CancelledTask: Equatable {
        case id(String)
        case at(WallTime)
    }

    static let defaultServer = "http://127.0.0.1:8080"
    static let mostCheers = 1000
    /// The maximum number of messages in one answer of the server.
    static let mostMessages = 100

    let command: Command
    let server: ServerAddress
    /// The device of `--device`, or `nil` for this user's own device.
    let device: String?
    /// The IANA name of the time zone, or `nil` for the system's time zone.
    let zone: String?

    init(
        _ arguments: [String], environment: (String) -> String?, serverFile: () -> String? = { nil }
    ) throws(UsageError) {
        var options: [String: String] = [:]
        var operands: [String] = []
        /// The operands after `--`.
        var text: [String]?
        var rest = arguments[...]
        var isHelp = arguments.isEmpty
        while let argument = rest.popFirst() {
            if argument == "--" {
                text = Array(rest)
                break
            }
            guard argument.hasPrefix("-"), argument.utf8.count > 1 else {
                operands.append(argument)
                continue
            }
            if argument == "--help" || argument == "-h" {
                isHelp = true
                continue
            }
            if Self.flags.contains(argument) {
                options[argument] = ""
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard Self.options.contains(parts[0]) else { throw UsageError(reason: "unknown option \(parts[0])") }
            guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
                throw UsageError(reason: "\(parts[0]) needs a value")
            }
            guard options.updateValue(value, forKey: parts[0]) == nil else {
                throw UsageError(reason: "\(parts[0]) must be given only once")
            }
        }
        device = options["--device"]
        zone = options["--zone"]
        if operands == ["help"] { isHelp = true }
        // --help works even if the server's address is invalid.
        let wanted = isHelp ? nil : options["--server"] ?? environment("LETSSWITCH_SERVER") ?? serverFile()
        let address = wanted ?? Self.defaultServer
        do { server = try ServerAddress(address) } catch { throw UsageError(reason: error.description) }
        command = isHelp ? .help : try Self.command(operands, behind: text, options)
    }

    /// The options without a value.
    private static let flags: Set = ["--invite"]
    private static let options: Set = ["--server", "--device", "--zone", "--at", "--kind", "-n"]

    private static func command(
        _ operands: [String], behind text: [String]?, _ options: [String: String]
    ) throws(UsageError) -> Command {
        // The command `say` uses the text after `--`. For all other commands, `--` only ends the options.
        let names = Array(operands.dropFirst())
        let operands = operands.first == "say" ? operands : operands + (text ?? [])
        let at = try options["--at"].map { text throws(UsageError) in try WallTime(text) }
        let command: Command
        var taken: Set = ["--server", "--device"]
        switch (operands.first ?? "", operands.count) {
        case ("promise", 2):
            guard let at else { throw UsageError(reason: "promise needs a start time: --at TIME") }
            command = .promise(title: operands[1], at: at, isInviting: options["--invite"] != nil)
            taken.formUnion(["--at", "--zone", "--invite"])
        case ("accept", 3):
            command = .accept(invitation: operands[1], title: operands[2])
            taken.insert("--zone")
        case ("cancel", 2):
            command = .cancel(.id(operands[1]))
        case ("cancel", 1):
            guard let at else { throw UsageError(reason: "cancel needs a task's id, or --at TIME") }
            command = .cancel(.at(at))
            taken.formUnion(["--at", "--zone"])
        case ("leave", 2):
            command = .leave(task: operands[1])
        case ("prefer", 2):
            command = .prefer(task: operands[1])
        case ("preferences", 1):
            command = .preferences
        case ("unprefer", 2):
            command = .unprefer(preference: operands[1])
        case ("watch", 1):
            command = .watch
        case ("join", 2):
            command = .join(room: operands[1])
        case ("cheer", 2):
            let times = try number(options["-n"], upTo: mostCheers, else: 1)
            command = .cheer(room: operands[1], try cheer(options["--kind"]), times: times)
            taken.formUnion(["-n", "--kind"])
        case ("ask", 3):
            command = .ask(session: operands[1], content: operands[2])
        case ("listen", 1), ("listen", 2):
            command = .listen(session: operands.count == 2 ? operands[1] : nil)
        case ("name", 2):
            command = .name(operands[1])
        case ("say", 2...):
            guard let text, !text.isEmpty, !names.isEmpty else {
                throw UsageError(reason: "say needs -- and a text after the names: letsswitch say USER… -- TEXT")
            }
            command = .say(to: names, content: text.joined(separator: " "))
        case ("history", _):
            let count = try number(options["-n"], upTo: mostMessages, else: mostMessages)
            command = .history(with: operands.count == 1 ? nil : Array(operands.dropFirst()), count: count)
            if operands.count > 1 { taken.insert("-n") }
        case ("say", _): throw UsageError(reason: "say needs at least one name: letsswitch say USER… -- TEXT")
        case ("ask", _): throw UsageError(reason: "ask needs a session and one question; put the question in quotes")
        case ("accept", _): throw UsageError(reason: "accept needs a link and one title; put both in quotes")
        case ("promise", _): throw UsageError(reason: "promise needs one title; put it in quotes")
        case ("watch", _), ("preferences", _): throw UsageError(reason: "\(operands[0]) takes no arguments")
        case ("cancel", _), ("leave", _), ("join", _), ("cheer", _), ("name", _), ("prefer", _), ("unprefer", _):
            throw UsageError(reason: "\(operands[0]) takes exactly one argument")
        case ("listen", _): throw UsageError(reason: "listen takes one session, or no argument")
        case ("", _): throw UsageError(reason: "a command is missing")
        default: throw UsageError(reason: "unknown command \(operands[0])")
        }
        if let foreign = options.keys.filter({ !taken.contains($0) }).min() {
            throw UsageError(reason: "\(operands[0]) doesn't take the option \(foreign)")
        }
        return command
    }

    private static func cheer(_ name: String?) throws(UsageError) -> Cheer {
        guard let name else { return .plain }
        guard let cheer = Cheer(rawValue: name) else {
            let names = Cheer.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(reason: "--kind must be one of \(names)")
        }
        return cheer
    }

    private static func number(_ text: String?, upTo most: Int, else other: Int) throws(UsageError) -> Int {
        guard let text else { return other }
        guard let number = Int(text), (1...most).contains(number) else {
            throw UsageError(reason: "-n must be a number from 1 to \(most)")
        }
        return number
    }
}
