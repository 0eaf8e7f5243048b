import Foundation
import LetsSwitchClient
import TestSupport
import Testing

/// The Swift program of CABLE.md. It is compiled here word for word, and run.
@Suite struct CablePageProgramTests {
    private static let room = "E866787E-12C7-4729-8F66-56AF8310A937"

    /// The program, except for the address and the output.
    private static func run(at address: String, print: (String) -> Void) async throws {
        // It begins.
        let cable = CableClient(try ServerAddress(address), path: "/cable?deviceId=ada-7c1f")
        let room = await cable.subscribe("RoomChannel", ["id": "E866787E-12C7-4729-8F66-56AF8310A937"])
        try await room.perform("ale")
        for try await case .message(let message) in room.events { print(message.type ?? "") }
        // It ends.
    }

    @Test("CABLE.md contains the program that is compiled here")
    func text() throws {
        let page = try Checkout.text("Sources/Core/ActionCable/CABLE.md")
        let shown = try #require(
            page.components(separatedBy: "```swift\nimport LetsSwitchClient\n\n").dropFirst().first?
                .components(separatedBy: "```").first)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let compiled = try #require(
            source.components(separatedBy: "// It begins.\n").dropFirst().first?
                .components(separatedBy: "        // It ends.").first)
        let lines = compiled.split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(
            lines.joined(separator: "\n") + "\n"
                == shown.replacing(#"ServerAddress("http://127.0.0.1:8080")"#, with: "ServerAddress(address)"))
    }

    @Test("The program of CABLE.md sends an ale and prints what it receives")
    func run() async throws {
        try await RunningDaemon.with(["--open-rooms"]) { server, _ in
            let other = CableClient(try ServerAddress("\(server)"))
            let room = await other.subscribe("RoomChannel", ["id": Self.room])
            let printed = EventRecorder<String>()
            // The program sends its ale after the other member has entered.
            var events = room.events.makeAsyncIterator()
            guard case .confirmed = try await events.next() else { throw ClientFailure.violation("no confirmation") }
            let program = Task { try await Self.run(at: "\(server)") { printed.append($0) } }
            guard case .message(let message) = try await events.next() else { throw ClientFailure.violation("no ale") }
            #expect(message.type == "aleResponse")
            try await room.perform("ale")
            try await printed.next("what it prints") { $0 == "aleResponse" }
            program.cancel()
            _ = await program.result
            await other.cancel()
        }
    }
}
