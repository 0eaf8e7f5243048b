import Foundation
import Glibc
import TestSupport

/// Rails' own Action Cable client, its unmodified JavaScript in Node. Each client is a process that is controlled by
/// lines of JSON.
struct RailsClient: Sendable {
    private static let node = "/usr/bin/node"
    private static let library = "/usr/share/nodejs/@rails/actioncable/app/assets/javascripts/action_cable.js"
    private static let webSocket = "/usr/share/nodejs/ws"

    static let isInstalled = [node, library, webSocket].allSatisfy { FileManager.default.fileExists(atPath: $0) }
    static let hint = "Node, its ws or Rails' actioncable is missing: make setup-interop"

    private let process: ChildProcess
    private let conversation: RawConnection

    /// The library doesn't connect before the first subscription.
    init(to endpoint: ClientEndpoint, _ query: String = "") async throws {
        process = try await ChildProcess.start(
            Self.node, ["-e", Self.program, "ws://\(endpoint.authority)/cable\(query)"],
            environment: DaemonProcess.cleanEnvironment(), converses: true)
        guard let conversation = process.conversation else { throw ClientFailure.misuse("no conversation") }
        self.conversation = conversation
    }

    func subscribe(_ name: String, _ parameters: TestJSON) async throws {
        try await send(["subscribe", .string(name), parameters])
    }

    func perform(_ name: String, _ action: String, _ data: TestJSON = [:]) async throws {
        try await send(["perform", .string(name), .string(action), data])
    }

    func unsubscribe(_ name: String) async throws {
        try await send(["unsubscribe", .string(name)])
    }

    /// Returns after the time in which the library would reconnect to a silent server. No message may arrive meanwhile.
    func outwaitReconnecting() async throws {
        try await send(["rest"])
        let received = try await receive(within: Deadline.standard + .seconds(60))
        guard received == ["rested"] else { throw ClientFailure.violation("received \(received)") }
    }

    private func send(_ message: TestJSON) async throws {
        try await conversation.send(try message.encoded() + [0x0A])
    }

    /// Returns the next callback: the subscription's name, the callback's name, and its argument.
    func receive(within allowed: Duration = Deadline.standard) async throws -> TestJSON {
        do {
            return try TestJSON(parsing: try await conversation.receiveUntil("\n", limit: 1 << 20, within: allowed))
        } catch {
            throw ClientFailure.violation("\(error); Node said \(process.lines.all.map(\.text).suffix(20))")
        }
    }

    /// Runs a module that imports the library by its name. Node gets the parts of a browser that the library needs. The
    /// module's output is in the process's lines.
    ///
    /// - Parameter head: An HTML element of the page with its attributes.
    static func run(program: String, head: String = "", _ body: (ChildProcess) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("node-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        // Node's modules find libraries only in directories above their own.
        try FileManager.default.createSymbolicLink(
            atPath: directory.appendingPathComponent("node_modules").path, withDestinationPath: "/usr/share/nodejs")
        let (module, globals) = (
            directory.appendingPathComponent("program.mjs"), directory.appendingPathComponent("browser.cjs")
        )
        try Data(program.utf8).write(to: module)
        let document = """
            globalThis.WebSocket = require("\(webSocket)")
            const attribute = name => \(try String(decoding: TestJSON.string(head).encoded(), as: UTF8.self))
                .match(new RegExp(`${name}="([^"]*)"`))?.[1]
            document.head = {
                querySelector: selector =>
                    selector === `meta[name='${attribute("name")}']` ? { getAttribute: attribute } : null
            }
            """
        try Data("\(browser)\(document)".utf8).write(to: globals)
        let process = try await ChildProcess.start(
            node, ["--require", globals.path, module.path], environment: DaemonProcess.cleanEnvironment())
        try await body(process)
        await process.signal(SIGKILL)
        _ = try await process.waitForExit()
    }

    /// The library needs these when it is loaded.
    private static let browser = """
        globalThis.self = globalThis
        globalThis.document = { visibilityState: "visible" }
        globalThis.addEventListener = globalThis.removeEventListener = () => {}

        """

    /// Reads commands as lines of JSON, and prints what it receives.
    private static let program =
        browser + """
            const ActionCable = require("/usr/share/nodejs/@rails/actioncable/app/assets/javascripts/action_cable.js")
            ActionCable.adapters.WebSocket = require("/usr/share/nodejs/ws")
            ActionCable.adapters.logger = console
            const tell = (...event) => process.stdout.write(JSON.stringify(event) + "\\n")
            const consumer = ActionCable.createConsumer(process.argv[1])
            const subscriptions = {}
            const todo = {
              subscribe(name, params) {
                subscriptions[name] = consumer.subscriptions.create(params, {
                  connected() { tell(name, "connected") },
                  disconnected(how) { tell(name, "disconnected", how) },
                  rejected() { tell(name, "rejected") },
                  received(message) { tell(name, "received", message) }
                })
              },
              perform(name, action, data) { subscriptions[name].perform(action, data) },
              unsubscribe(name) { subscriptions[name].unsubscribe() },
              rest() {
                const monitor = consumer.connection.monitor
                setTimeout(() => tell("rested"), 1000 * monitor.constructor.staleThreshold + 2 * monitor.getPollInterval())
              }
            }
            require("readline").createInterface({ input: process.stdin })
              .on("line", line => { const [what, ...how] = JSON.parse(line); todo[what](...how) })
              .on("close", () => process.exit())
            """
}
