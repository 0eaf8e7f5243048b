import Foundation
import Glibc
import JourneyTestSupport
import Matches
import Settings
import TestSupport
import Testing

/// Runs the programs of CABLE.md unchanged except for the address.
@Suite(.enabled(if: TestBroker.isWanted, "they are of the long tests: make interop-cable"))
struct CablePageTests {
    private static let page = Checkout.url("Sources/Core/ActionCable/CABLE.md")
    private static let address = "127.0.0.1:8080"

    /// Returns the page's only program in this language.
    private static func program(_ language: String) throws -> String {
        let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```\(language)\n")
        return try #require(parts.count == 2 ? parts[1].components(separatedBy: "```").first : nil)
    }

    private static func program(_ language: String, at endpoint: ClientEndpoint) throws -> String {
        let program = try program(language)
        #expect(program.contains(address))
        return program.replacingOccurrences(of: address, with: endpoint.authority)
    }

    @Test("Clients in Rails, Python, JavaScript and Swift need only five lines each")
    func fiveLines() throws {
        for languages in [["rb", "erb", "mjs"], ["python"], ["js"]] {
            let lines = try languages.flatMap { try Self.program($0).split(separator: "\n") }
            #expect(lines.count <= 5, "\(languages)")
        }
        // The program's import is in a separate paragraph.
        #expect(try Self.program("swift").split(separator: "\n").count <= 5)
    }

    @Test(
        "The JavaScript client receives an ale and sends one",
        .enabled(if: RailsClient.isInstalled, "\(RailsClient.hint)"))
    func javaScript() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let room = try #require(UUID(uuidString: "E866787E-12C7-4729-8F66-56AF8310A937"))
            let program = try Self.program("js", at: endpoint)
            #expect(program.contains(room.uuidString))
            let peer = try await endpoint.enter(room)
            try await RailsClient.run(program: program) { node in
                #expect(try await peer.nextMessage() == RoomMessages.cheer)
                try await peer.send(text: RoomMessages.ale(room))
                try await node.lines.next("what it prints") { $0.text == "aleResponse" }
            }
        }
    }

    @Test(
        "A page of a Rails application receives a reminder",
        .enabled(
            if: RailsClient.isInstalled && RailsServer.isInstalled, "\(RailsClient.hint); \(RailsServer.hint)"))
    func rails() async throws {
        try await Journey.run { journey in
            let endpoint = try await daemonWithReminder(journey)
            // A minimal application, since Debian packages only part of Rails.
            let application = """
                require "action_cable"
                require "action_cable/helpers/action_cable_helper"
                require "action_view"
                config = Struct.new(:action_cable).new(ActionCable.server.config)
                \(try Self.program("rb", at: endpoint))
                view = ActionView::Base.with_empty_template_cache.with_view_paths([])
                view.extend(ActionCable::Helpers::ActionCableHelper)
                puts view.render(inline: <<~'LAYOUT')
                \(try Self.program("erb"))LAYOUT
                """
            let ruby = try await startRuby(application)
            let head = try await ruby.lines.next("the head") { $0.text.contains("action-cable-url") }.text
            _ = try await ruby.waitForExit()
            try await RailsClient.run(program: try Self.program("mjs"), head: head) { node in
                try await node.lines.next("the reminder") { $0.text == "reminder First" }
            }
        }
    }

    @Test("The Ruby client receives a reminder", .enabled(if: RailsServer.isInstalled, "\(RailsServer.hint)"))
    func ruby() async throws {
        try await getsReminder("ruby", start: startRuby)
    }

    private func startRuby(_ program: String) async throws -> ChildProcess {
        try await ChildProcess.start("/usr/bin/ruby", ["-e", program], environment: DaemonProcess.cleanEnvironment())
    }

    @Test(
        "The Python client receives a reminder",
        .enabled(if: PythonPackages.ofCable.areInstalled, "\(PythonPackages.ofCable.hint)"))
    func python() async throws {
        // On a busy machine the library needs a longer timeout.
        let patience = "import aioactioncable; aioactioncable.connect.SUBSCRIPTION_TIMEOUT = 120\n"
        try await getsReminder("python") { try await PythonPackages.ofCable.start(patience + $0) }
    }

    private func getsReminder(_ language: String, start: (String) async throws -> ChildProcess) async throws {
        try await Journey.run { journey in
            let endpoint = try await daemonWithReminder(journey)
            let process = try await start(try Self.program(language, at: endpoint))
            try await process.lines.next("the reminder") {
                $0.text.contains("First") && $0.text.contains(#""reminder""#)
            }
            await process.signal(SIGKILL)
            _ = try await process.waitForExit()
        }
    }

    /// Starts a daemon with a reminder for the page's device.
    private func daemonWithReminder(_ journey: Journey) async throws -> ClientEndpoint {
        let endpoint = try await journey.daemon()
        let begin = try await journey.instant(in: 3600)
        try await endpoint.register("ada-7c1f", begin, "First")
        try await journey.advance(to: begin, -59)
        return endpoint
    }
}
