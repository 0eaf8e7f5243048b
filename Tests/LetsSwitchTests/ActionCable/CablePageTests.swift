import Foundation
import Glibc
import Settings
import TestSupport
import Testing

@testable import LetsSwitch

/// The programs of CABLE.md, as they are written there; only the address is another.
@Suite(.enabled(if: TestBroker.isWanted, "they are of the long tests: make interop-cable"))
struct CablePageTests {
    private static let page = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/ActionCable/CABLE.md")
    private static let address = "127.0.0.1:8080"

    /// The page's one program in this language.
    private static func program(_ language: String, at endpoint: ClientEndpoint) throws -> String {
        let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```\(language)\n")
        let program = try #require(parts.count == 2 ? parts[1].components(separatedBy: "```").first : nil)
        #expect(program.contains(address))
        return program.replacingOccurrences(of: address, with: endpoint.authority)
    }

    @Test("JavaScript hears an ale, and says one", .enabled(if: RailsClient.isInstalled, "\(RailsClient.hint)"))
    func javaScript() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.openRooms = true }
            let room = try #require(UUID(uuidString: "E866787E-12C7-4729-8F66-56AF8310A937"))
            let program = try Self.program("js", at: endpoint)
            #expect(program.contains(room.uuidString))
            let peer = try await endpoint.enter(room)
            try await RailsClient.run(program: program) { node in
                #expect(try await peer.nextMessage() == RoomWords.cheer)
                try await peer.send(text: RoomWords.ale(room))
                try await node.lines.next("what it prints") { $0.text == "aleResponse" }
            }
        }
    }

    @Test("Ruby gets a reminder", .enabled(if: RailsServer.isInstalled, "\(RailsServer.hint)"))
    func ruby() async throws {
        try await getsReminder("ruby") { program in
            try await ChildProcess.start(
                "/usr/bin/ruby", ["-e", program], environment: DaemonProcess.cleanEnvironment())
        }
    }

    @Test("Python gets a reminder", .enabled(if: PythonPackages.ofCable.areInstalled, "\(PythonPackages.ofCable.hint)"))
    func python() async throws {
        try await getsReminder("python") { try await PythonPackages.ofCable.start($0) }
    }

    private func getsReminder(_ language: String, start: (String) async throws -> ChildProcess) async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let begin = try await journey.instant(in: 3600)
            try await endpoint.register("ada-7c1f", begin, "First")
            try await journey.advance(to: begin, -59)
            let process = try await start(try Self.program(language, at: endpoint))
            try await process.lines.next("the reminder") {
                $0.text.contains("First") && $0.text.contains("RemindersChannel")
            }
            await process.signal(SIGKILL)
            _ = try await process.waitForExit()
        }
    }
}
